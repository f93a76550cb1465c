/** One limit: how many requests with the same key pass in a window, and what the others get. */
import * as z from 'zod/mini';
import { limitActions, limitAlgorithms, limitKeyFacts } from '../../vocabulary.ts';
import { isJsonObject } from '../../../bytes/json.ts';
import { nameProblem } from './check-test.ts';
import { policyMode, policyName } from './policy.ts';

export const LIMITS_MAX = 100;
const KEY_PARTS_MAX = 4;
const WINDOW_MAX_SECONDS = 86_400;
const COUNT_MAX = 1_000_000;
const OF_THE_NETWORK: ReadonlySet<string> = new Set(['ip', 'prefix', 'asn', 'country']);

/** `header:<name>` and `cookie:<name>` beside the words. */
export const limitKeyPart = z.string().check(
  z.maxLength(160),
  z.refine(
    (part) => {
      if ((limitKeyFacts as readonly string[]).includes(part)) return true;
      const [, field, name] = /^(header|cookie):(.+)$/.exec(part) ?? [];
      return field !== undefined && nameProblem(field as 'header' | 'cookie', name) === null;
    },
    `must be one of ${limitKeyFacts.join(', ')}, header:<name> or cookie:<name>`,
  ),
);

/** `status:4xx` and `status:401` count what the origin answered; `challengeFailed` tokens that did not verify. */
export const limitEvent = z
  .string()
  .check(
    z.regex(
      /^(?:request|challengeFailed|loginFailed|status:[1-5](?:xx|\d\d))$/,
      'must be request, challengeFailed, loginFailed, or a status such as status:401 or status:4xx',
    ),
  );

/** What of the origin's response says that a login failed: one of these statuses, or this header. */
export const failedLogin = z
  .strictObject({
    status: z.optional(z.array(z.int().check(z.gte(100), z.lte(599))).check(z.minLength(1), z.maxLength(10))),
    header: z.optional(
      z.strictObject({
        name: z
          .string()
          .check(z.refine((name) => nameProblem('header', name) === null, 'must be the name of a header')),
        /** Without one, the header has to be there. */
        value: z.optional(z.string().check(z.maxLength(512))),
      }),
    ),
    /** Field of the form that holds the user's name. It is hashed and never stored. */
    usernameField: z.optional(z.string().check(z.regex(/^[A-Za-z0-9_.[\]-]{1,64}$/))),
  })
  .check(z.refine(({ status, header }) => (status ?? header) !== undefined, 'must have a status or a header'));

export const limit = z
  .strictObject({
    name: policyName,
    key: z.array(limitKeyPart).check(
      z.minLength(1),
      z.maxLength(KEY_PARTS_MAX),
      z.refine((parts) => new Set(parts).size === parts.length, 'must not have a part twice'),
    ),
    count: z.int().check(z.gte(1), z.lte(COUNT_MAX)),
    windowSeconds: z.int().check(z.gte(1), z.lte(WINDOW_MAX_SECONDS)),
    algorithm: z._default(z.enum(limitAlgorithms), 'sliding'),
    on: z._default(limitEvent, 'request'),
    then: z._default(z.enum(limitActions), '429'),
    /** Ask one object for each request: never one too many, and a request waits for the answer. */
    exact: z._default(z.boolean(), false),
    /** Of an exact limit: what a request gets when the object does not answer. `open` when absent. */
    ifUnreachable: z.optional(z.enum(['open', 'closed'])),
    mode: z._default(policyMode, 'enforce'),
    loginFailed: z.optional(failedLogin),
  })
  .check((context) => {
    const { key, on, exact, ifUnreachable, loginFailed } = context.value;
    const refuse = (path: string, message: string): void => {
      context.issues.push({ code: 'custom', input: context.value, path: [path], message });
    };
    if (ifUnreachable !== undefined && !exact) refuse('ifUnreachable', 'must be absent where exact is false');
    if (exact && on !== 'request') refuse('exact', 'must be false: only requests are counted before they pass');
    if (on === 'loginFailed' && loginFailed === undefined) refuse('loginFailed', 'must say what a failed login is');
    if (on === 'challengeFailed' && key.some((part) => !OF_THE_NETWORK.has(part))) {
      refuse('key', 'must have only ip, prefix, asn and country: a wrong solution can be sent without anything else');
    }
    if (key.includes('user') && loginFailed?.usernameField === undefined) {
      refuse('key', 'needs loginFailed.usernameField for the part user');
    }
  });

/** Strangers who know a user's name can use up the limit of that user: a refusal locks the user out, a challenge does not. */
const withOwnDefault = z.transform((given: unknown) => {
  const isByUser = isJsonObject(given) && Array.isArray(given['key']) && given['key'].includes('user');
  return (isByUser && given['then'] === undefined ? { ...given, then: 'challenge' } : given) as z.input<typeof limit>;
});

/** As operators write it. */
export const givenLimit = z.pipe(withOwnDefault, limit) as unknown as z.ZodMiniType<Limit, z.input<typeof limit>>;
export type Limit = z.infer<typeof limit>;
