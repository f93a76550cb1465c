/**
 * The calls that `npm run bench -- api` times: every management operation once, and those with a choice several times.
 * They run in this order, because what one case creates, a later one changes and deletes.
 */
import type { FullAccount } from './account.ts';

/** Target of calls with up to 100 rows. */
export const P99_SMALL_MS = 50;
/** Target of a full page of 10,000 rules. */
const P99_FULL_PAGE_MS = 500;
/** Target of a freeText search over a day of 100,000 records. */
const P99_FREE_TEXT_MS = 500;
const DAY_MS = 86_400_000;

export interface Case {
  name: string;
  path: string;
  method?: 'GET' | 'PUT';
  body?(call: number): object;
  p99Ms: number;
  /** Share of the calls. A full page takes so long that fewer calls are enough. */
  share?: number;
  /** The key of another account. */
  token?: string;
  /** Keeps what a later case needs from the response. */
  onResponse?(body: never): void;
}

/** A call that finds nothing to list: the cost of routing, authentication and a response. */
export function floorCase({ smallToken }: FullAccount): Case {
  return small('floor: an empty list', '/audit-trail/get', () => ({ limit: 1 }), { token: smallToken });
}

type Extra = Partial<Omit<Case, 'name' | 'path' | 'body'>>;

function small(name: string, path: string, body?: (call: number) => object, extra: Extra = {}): Case {
  return { name, path, ...(body ? { body } : {}), p99Ms: P99_SMALL_MS, ...extra };
}

export function managementCases(account: FullAccount): Case[] {
  return [
    ...siteCases(account),
    ...ruleCases(account),
    ...trafficCases(account),
    ...memberCases(),
    ...instanceCases(account),
    small('audit-trail/get, 100', '/audit-trail/get', () => ({ limit: 100 })),
  ];
}

/** Sites that the bench creates. Each gets an instance and is deleted at the end. */
const madeSites: string[] = [];

function siteCases({ siteKey, smallToken }: FullAccount): Case[] {
  return [
    small('sites/get, 100 sites', '/sites/get', undefined, { token: smallToken }),
    small('sites/get, 1,000 sites', '/sites/get', undefined, { p99Ms: P99_FULL_PAGE_MS, share: 0.2 }),
    small('site/get', '/site/get', () => ({ siteKey })),
    small('sites/update', '/sites/update', (call) => ({ siteKey, settings: { powDifficulty: 1 + (call % 9) } })),
    small(
      'sites/create',
      '/sites/create',
      (call) => ({ name: `bench-${call}`, settings: { domains: ['bench.example'] } }),
      { onResponse: (site: { siteKey: string }) => madeSites.push(site.siteKey) },
    ),
  ];
}

function ruleCases({ scopeHashes }: FullAccount): Case[] {
  const jobIds: string[] = [];
  return [
    ...['createdAt', 'description', 'expiry', 'userScopeHash', 'ruleGroupId'].map((sortBy) =>
      small(`access-control/get, 100 by ${sortBy}`, '/access-control/get', () => ({ limit: 100, sortBy, page: 50 })),
    ),
    small('access-control/get, 100 of a group', '/access-control/get', (call) => ({
      limit: 100,
      ruleGroupId: `group-${call % 20}`,
    })),
    small('access-control/get, 10,000', '/access-control/get', () => ({ limit: 10_000 }), {
      p99Ms: P99_FULL_PAGE_MS,
      share: 0.2,
    }),
    small('access-control/create', '/access-control/create', (call) => ({
      rule: { type: 'block', conditions: [{ field: 'asn', operator: 'equals', value: call }], ruleGroupId: 'bench' },
    })),
    small('access-control/delete', '/access-control/delete', (call) => ({ userScopeHash: scopeHashes[call] })),
    small('access-control/group/delete', '/access-control/group/delete', (call) => ({ ruleGroupId: `none-${call}` }), {
      onResponse: ({ jobId }: { jobId: string }) => jobIds.push(jobId),
    }),
    small('access-control/group/job', '/access-control/group/job', (call) => ({ jobId: jobIds[call] })),
  ];
}

function trafficCases({ siteKey }: FullAccount): Case[] {
  const ignored = { token: 'x', accountId: 'x' };
  const traffic = (name: string, body: () => object): Case =>
    small(`gettrafficdata, ${name}`, '/gettrafficdata', () => ({ ...ignored, ...body() }));
  const range = (days: number) => ({
    startDate: new Date(Date.now() - days * DAY_MS).toISOString(),
    endDate: new Date().toISOString(),
  });
  return [
    traffic('month, 1,000 sites', () => ({})),
    traffic('month, one site', () => ({ siteKeys: [siteKey] })),
    traffic('30 days, 1,000 sites', () => range(30)),
    traffic('week by the hour, 1,000 sites', () => range(7)),
    traffic('day, one site', () => ({ ...range(1), siteKeys: [siteKey] })),
    ...[60, 360].map((windowMinutes) =>
      small(`getlivesessions, ${windowMinutes} minutes`, '/getlivesessions', () => ({
        ...ignored,
        siteKey,
        windowMinutes,
      })),
    ),
  ];
}

function memberCases(): Case[] {
  const email = (call: number): string => `u${call}@example.com`;
  const keyIds: string[] = [];
  return [
    small('users/get, 100', '/users/get', undefined, { method: 'GET' }),
    small('users/create', '/users/create', (call) => ({ email: email(call), name: 'U', role: 'viewer' })),
    small('users/update', '/users/update', (call) => ({ email: email(call), userType: 'admin' }), { method: 'PUT' }),
    small('users/delete', '/users/delete', (call) => ({ email: email(call) })),
    small('api-keys/get, 100', '/api-keys/get'),
    small('api-keys/create', '/api-keys/create', () => ({ name: 'bench', permissions: { Sites: ['getSites'] } }), {
      onResponse: ({ apiKeyId }: { apiKeyId: string }) => keyIds.push(apiKeyId),
    }),
    small('api-keys/delete', '/api-keys/delete', (call) => ({ apiKeyId: keyIds[call] })),
  ];
}

function instanceCases(account: FullAccount): Case[] {
  const { instanceId } = account;
  const ids: string[] = [];
  const jtis: string[] = [];
  const protectInstanceId = instanceId;
  // An account may hold no more of them.
  const half = { share: 0.5 };
  return [
    small('protect/instances, 100', '/protect/instances'),
    small(
      'protect/instances/create',
      '/protect/instances/create',
      (call) => ({ name: 'Made', cname: `made${call}.example.com`, globalSiteKey: madeSites[call] }),
      { ...half, onResponse: ({ id }: { id: string }) => ids.push(id) },
    ),
    small('protect/instances/update', '/protect/instances/update', (call) => ({ id: ids[call], monitor: true }), half),
    small('protect/instances/delete', '/protect/instances/delete', (call) => ({ id: ids[call] }), half),
    small('sites/delete', '/sites/delete', (call) => ({ siteKey: madeSites[call] })),
    small('client-jwt/generate', '/protect/client-jwt/generate', () => ({ protectInstanceId, expiresInWeeks: 4 }), {
      onResponse: ({ jti }: { jti: string }) => jtis.push(jti),
    }),
    small('client-jwt/list', '/protect/client-jwt/list', () => ({ protectInstanceId })),
    small('client-jwt/revoke', '/protect/client-jwt/revoke', (call) => ({ protectInstanceId, jti: jtis[call] })),
    small('origin-keys', '/protect/origin-keys', () => ({ protectInstanceId })),
    small('bots, 100', '/protect/bots'),
    small('bots/own/add', '/protect/bots/own/add', (call) => ({
      id: 'bench',
      behaviours: ['other'],
      patterns: ['BenchBot/'],
      networks: [`20.9.${call & 255}.0/24`],
    })),
    ...edgeRuleCases(account),
    ...verdictCases(account),
  ];
}

function edgeRuleCases({ siteKeys }: FullAccount): Case[] {
  // Of several active instances, a write names the one it means.
  const [siteKey] = siteKeys;
  const rules = (call: number) =>
    Array.from({ length: 100 }, (_, index) => ({
      type: 'ip',
      value: `10.${(call >> 8) & 255}.${call & 255}.${index}`,
      verdict: 'block',
    }));
  const path = '/protect/access-rules';
  let version = 0;
  return [
    small('access-rules/create, 100', `${path}/create`, (call) => ({ siteKey, rules: rules(call) }), {
      onResponse: (body: { version: number }) => (version = body.version),
    }),
    small('access-rules, 100', path, () => ({ siteKey, limit: 100 })),
    small('access-rules/explain', `${path}/explain`, (call) => ({ siteKey, ip: `10.0.${call & 255}.7` })),
    small('access-rules/preview, last minute', `${path}/preview`, (call) => ({
      siteKey,
      rules: rules(call).slice(0, 1),
      since: Date.now() - 60_000,
    })),
    small('access-rules/import, 100', `${path}/import`, (call) => ({
      siteKey,
      content: rules(call)
        .map(({ value }) => value)
        .join('\n'),
      verdict: 'challenge',
    })),
    small('access-rules/export, none', `${path}/export`, () => ({ siteKey, type: 'asn' })),
    small('access-rules/history', `${path}/history`, () => ({ siteKey, limit: 100 })),
    small('access-rules/rollback', `${path}/rollback`, () => ({ siteKey, version })),
    small('access-rules/delete, 100', `${path}/delete`, (call) => ({
      siteKey,
      conditions: rules(call).map(({ type, value }) => ({ type, value })),
    })),
  ];
}

function verdictCases({ siteKeys }: FullAccount): Case[] {
  const [siteKey] = siteKeys;
  const since = Date.now() - DAY_MS;
  const jtis: string[] = [];
  const read = (name: string, body: () => object, extra: Extra = {}): Case =>
    small(`protect/${name}`, `/protect/${name.split(',')[0]}`, body, extra);
  const jti = (call: number) => ({ jti: jtis[call % jtis.length] });
  return [
    read('verdicts, 100', () => ({ limit: 100 }), {
      onResponse: ({ verdicts }: { verdicts: { jti: string }[] }) => {
        for (const verdict of verdicts) if (!jtis.includes(verdict.jti)) jtis.push(verdict.jti);
      },
    }),
    small('protect/verdicts/search', '/protect/verdicts/search', jti),
    read('verdicts/distinct-sources', () => ({ since })),
    read('verdicts/distinct-fired-rules', () => ({ since })),
    small('protect/risk-history', '/protect/risk-history', jti),
    small('protect/session-telemetry', '/protect/session-telemetry', jti),
    read('traffic-summary', () => ({ since, bucket: 'hour' })),
    read('traffic-by-dimension', () => ({ groupBy: 'country', since, bucket: 'hour' })),
    read('verdicts/export, 5 minutes', () => ({ since: Date.now() - 300_000 })),
    // Reads the log of every instance.
    small('protect/metrics, 100 instances', '/protect/metrics', undefined, { method: 'GET', share: 0.2 }),
    small('protect/sessions/erase', '/protect/sessions/erase', (call) => ({ siteKey, ...jti(call) }), { share: 0.5 }),
  ];
}

/** Each searches 30 days, which is every record, unless its name gives another range. */
export function searchCases({ siteKey }: FullAccount): Case[] {
  const path = '/audit/searchcaptcharecords';
  const search = (name: string, criteria: (call: number) => object, body: object = {}): Case =>
    small(`search, ${name}`, path, (call) => ({ startDate: 0, searchCriteria: criteria(call), ...body }));
  const day = { startDate: Date.now() - DAY_MS };
  const text = (name: string, freeText: string): Case => ({
    ...search(`freeText ${name}, a day`, () => ({ freeText }), day),
    p99Ms: P99_FREE_TEXT_MS,
    share: 0.2,
  });
  const monthAgo = Date.now() - 25 * DAY_MS;
  const deep = { pagination: { limit: 100, lastTimestamp: monthAgo, lastId: '00000000-0000-0000-0000-000000000000' } };
  return [
    search('no criterion', () => ({})),
    search('site and type', () => ({}), { siteKey, captchaType: 'image' }),
    search('blocked', () => ({}), { captchaType: 'blocked' }),
    search('ip', (call) => ({ ip: `10.${call & 63}.${(call * 7) & 255}.3` })),
    search('ja4', (call) => ({ ja4: `t13d15${10 + (call % 80)}h2_8daaf6152771_b0da82dd${1000 + (call % 80)}` })),
    search('userAgent', () => ({ userAgent: 'chrome/129' })),
    search('userAccount', (call) => ({ userAccount: `account-${call}` })),
    search('countryCode', () => ({ countryCode: 'DE' })),
    search('countryCode, 100 rows', () => ({ countryCode: 'DE' }), { pagination: { limit: 100 } }),
    search('countryCode, page of 25 days ago', () => ({ countryCode: 'DE' }), deep),
    search('deviceType, 100 rows', () => ({ deviceType: 'desktop' }), { pagination: { limit: 100 } }),
    search('vpn', () => ({ vpn: true })),
    search('webView', () => ({ webView: true })),
    search('iFrame', () => ({ iFrame: false })),
    search('status', () => ({ status: 'Disapproved' })),
    search('selectionReason', () => ({ selectionReason: 'OLD_TIMESTAMP' })),
    search('resultReason', () => ({ resultReason: 'API.BLOCKED' })),
    search('accessRule', (call) => ({ accessRule: `rule-${call * 13}` })),
    search('policyType', () => ({ policyType: 'restrict' })),
    search('triggeredDetectors', () => ({ triggeredDetectors: ['burst'] })),
    search('country, status and site', () => ({ countryCode: 'FR', status: 'Pending' }), { siteKey }),
    text('of a user agent', 'chrome/129'),
    text('of an address', '10.24.1'),
    text('of every record', 'example'),
    text('of none', 'no such text'),
  ];
}
