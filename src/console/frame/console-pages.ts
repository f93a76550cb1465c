/** The pages of the console in the order in which people look for them, each with its part of the documentation. */
import type { may } from '../api/session.ts';

export interface ConsolePage {
  text: string;
  path: string;
  /** A page below `/docs`, and a heading of it. */
  docs: string;
  /** Calls that the page cannot do without. Left out: everybody sees it. */
  needs?: Parameters<typeof may>;
}

/** One entry of the navigation: its pages stand side by side above each of them. */
export interface Entry {
  text: string;
  pages: readonly [ConsolePage, ...ConsolePage[]];
}

export const groups: readonly { title: string; entries: readonly Entry[] }[] = [
  {
    title: 'Traffic',
    entries: [
      { text: 'Overview', pages: [{ text: 'Overview', path: '/console', docs: 'console#views' }] },
      {
        text: 'Requests',
        pages: [
          { text: 'Verdicts', path: '/console/verdicts', docs: 'verdict-log#queries' },
          { text: 'Live tail', path: '/console/tail', docs: 'verdict-log#live-tail' },
          { text: 'Sessions', path: '/console/sessions', docs: 'risk' },
          { text: 'Find', path: '/console/find', docs: 'console#why-was-this-visitor-blocked' },
        ],
      },
      { text: 'Bots', pages: [{ text: 'Bots', path: '/console/bots', docs: 'bots' }] },
      {
        text: 'Captchas',
        pages: [
          {
            text: 'Captchas',
            path: '/console/captchas',
            docs: 'verification#challenges',
            needs: ['getTraffic', 'searchCaptchaRecords'],
          },
          {
            text: 'Captcha rules',
            path: '/console/access-control',
            docs: 'management-api#access-control-rules',
            needs: ['getRules'],
          },
        ],
      },
    ],
  },
  {
    title: 'Decisions',
    entries: [
      {
        text: 'Rules and lists',
        pages: [
          { text: 'Rules', path: '/console/rules', docs: 'access-rules' },
          { text: 'Lists', path: '/console/lists', docs: 'lists' },
        ],
      },
      {
        text: 'Policies and limits',
        pages: [
          { text: 'Policies', path: '/console/policies', docs: 'policies' },
          { text: 'Limits', path: '/console/limits', docs: 'limits' },
        ],
      },
    ],
  },
  {
    title: 'Set-up',
    entries: [
      {
        text: 'Instances and sites',
        pages: [
          { text: 'Instances', path: '/console/instances', docs: 'instance-settings' },
          { text: 'Sites', path: '/console/sites', docs: 'site-settings', needs: ['readSites'] },
          { text: 'Installation guide', path: '/console/guide', docs: 'first-day' },
        ],
      },
      {
        text: 'Health and alerts',
        pages: [
          { text: 'Health', path: '/console/health', docs: 'operations#monitoring' },
          { text: 'Alerts', path: '/console/alerts', docs: 'alerts' },
        ],
      },
      {
        text: 'Team and keys',
        pages: [
          { text: 'Users', path: '/console/users', docs: 'management-api#users', needs: ['getUsers'] },
          { text: 'API keys', path: '/console/api-keys', docs: 'management-api#api-keys', needs: ['getApiKeys'] },
          {
            text: 'Audit trail',
            path: '/console/audit-trail',
            docs: 'management-api#audit-trail',
            needs: ['getAuditTrail'],
          },
          { text: 'Your sign-in', path: '/console/security', docs: 'console#sign-in' },
        ],
      },
    ],
  },
];

/** Parts of pages that the documentation has a part for. */
const partDocs: readonly (readonly [path: string, docs: string])[] = [
  ['/console/rules/import', 'access-rules#files'],
  ['/console/rules/explain', 'access-rules#which-rule-wins'],
  ['/console/bots/policy', 'bots#what-a-bot-gets'],
  ['/console/bots/robots', 'bots#robotstxt'],
  ['/console/bots/lists', 'bots#published-networks'],
  ['/console/policies/try', 'policies#try-before-you-enforce'],
  ['/console/policies/import', 'policies#import'],
  ['/console/policies/history', 'policies#versions'],
  ['/console/alerts/channels', 'alerts#channels'],
  ['/console/verdicts/', 'verdict-log#why-a-request-was-decided-so'],
];

export const allDocs: readonly string[] = [
  ...groups.flatMap(({ entries }) => entries.flatMap(({ pages }) => pages.map(({ docs }) => docs))),
  ...partDocs.map(([, docs]) => docs),
];

export function isWithin(path: string, page: string): boolean {
  return path === page || (page !== '/console' && path.startsWith(`${page}/`));
}

/** The entry and the page that an address belongs to. */
export function placeOf(path: string): { entry: Entry; page: ConsolePage } | null {
  for (const entry of groups.flatMap(({ entries }) => entries)) {
    const page = entry.pages.find((one) => isWithin(path, one.path));
    if (page !== undefined) return { entry, page };
  }
  return null;
}

/** The part of the documentation about an address. */
export function docsOf(path: string): string {
  const part = partDocs.find(([start]) => path.startsWith(start))?.[1];
  return `/docs/${part ?? placeOf(path)?.page.docs ?? 'console'}`;
}
