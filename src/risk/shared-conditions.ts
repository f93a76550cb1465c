/** Conditions that the session score and the captcha score have in common: both know the user agent and the address. */

interface SharedFacts {
  userAgent: string;
  categories: readonly string[];
}
type SharedCondition = (facts: SharedFacts) => boolean;

const inCategory =
  (name: string): SharedCondition =>
  ({ categories }) =>
    categories.includes(name);

export const sharedConditions = {
  'no-user-agent': ({ userAgent }) => userAgent === '',
  'category-tor': inCategory('tor'),
  'category-abuser': inCategory('abuser'),
  'category-proxy': inCategory('proxy'),
  'category-vpn': inCategory('vpn'),
  'category-datacenter': inCategory('datacenter'),
  'category-crawler': inCategory('crawler'),
} as const satisfies Readonly<Record<string, SharedCondition>>;
