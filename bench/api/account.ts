/**
 * The account that `npm run bench -- api` uses: 1,000 sites, 10,000 access control rules, the captcha records, a hundred
 * users, API keys and Protect instances, and one instance with edge rules and verdicts. A small account with a hundred
 * sites is for the list of sites, which has no pages.
 */
import { allPermissions } from '../../src/cli/provision.ts';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import { siteSettings } from '../../src/contract/management/site-settings.ts';
import { createAccount } from '../../src/store/d1/accounts.ts';
import { apiKeyToken, createApiKey } from '../../src/store/d1/api-keys.ts';
import type { StoreEnv } from '../../src/store/binding.ts';
import { createInstance } from '../../src/store/d1/instances.ts';
import { rootKey } from '../../src/store/keys/root-key.ts';
import { createSite } from '../../src/store/d1/sites.ts';
import { createUser } from '../../src/store/d1/users.ts';

const SITES = 1000;
const RULES = 10_000;
/** Length of the lists that have no pages. */
const LISTED = 100;
/** Most captchas belong to these sites, one in eight to any site. */
const BUSY_SITES = 10;
const VERDICTS = 20_000;
/** For 600,000 calls a minute. */
const KEYS = 50;
const DAY_MS = 86_400_000;
/** Records of one segment. */
const RECORDS_PER_CALL = 10_000;
/** The most that are unsealed when captchas come at this rate. */
const UNSEALED_RECORDS = 14_000;

export interface FullAccount {
  accountId: string;
  /** Keys to take turns with: one makes 12,000 calls a minute at most, and a fast machine makes more. */
  tokens: string[];
  siteKeys: string[];
  /** The last site. */
  siteKey: string;
  /** The sites with the most captcha records. */
  busySites: string[];
  /** One for every access control rule. */
  scopeHashes: string[];
  /** The instance with edge rules and verdicts. */
  instanceId: string;
  /** A key of the account with a hundred sites. */
  smallToken: string;
}

export async function fillAccount(env: StoreEnv): Promise<FullAccount> {
  const nowMs = Date.now();
  const account = await createAccount(env, { ownerEmail: 'owner@example.com', tier: 'enterprise' }, nowMs);
  const siteKeys = await makeSites(env, account.id, SITES, nowMs);
  const small = await createAccount(env, { ownerEmail: 'small@example.com', tier: 'enterprise' }, nowMs);
  await makeSites(env, small.id, LISTED, nowMs);
  const instances = await makeInstances(env, account.id, siteKeys, nowMs);
  for (let index = 1; index < LISTED; index++) {
    const user = { email: `member${index}@example.com`, name: 'Member', role: 'viewer' as const };
    await createUser(env, account.id, user, nowMs + index);
    await tokenOf(env, account.id, nowMs);
  }
  return {
    accountId: account.id,
    tokens: await Promise.all(Array.from({ length: KEYS }, () => tokenOf(env, account.id, nowMs))),
    siteKeys,
    siteKey: siteKeys.at(-1) ?? '',
    busySites: siteKeys.slice(-BUSY_SITES),
    scopeHashes: await makeRules(env, account.id, nowMs),
    instanceId: instances[0] ?? '',
    smallToken: await tokenOf(env, small.id, nowMs),
  };
}

async function tokenOf(env: StoreEnv, accountId: string, nowMs: number): Promise<string> {
  const wanted = { accountId, name: 'bench', permissions: allPermissions(), expiresInSeconds: 86_400 };
  return apiKeyToken(await rootKey(env), await createApiKey(env, wanted, nowMs));
}

async function makeSites(env: StoreEnv, accountId: string, count: number, nowMs: number): Promise<string[]> {
  const settings = siteSettings.parse({ domains: ['example.com', '*.example.org'] });
  const siteKeys: string[] = [];
  for (let index = 0; index < count; index++) {
    const site = await createSite(env, { accountId, name: `site-${index}`, settings }, nowMs + index);
    if (site.ok) siteKeys.push(site.value.siteKey);
  }
  return siteKeys;
}

async function makeInstances(
  env: StoreEnv,
  accountId: string,
  siteKeys: readonly string[],
  nowMs: number,
): Promise<string[]> {
  const policy = instanceSettings.parse({});
  const ids: string[] = [];
  for (const [index, globalSiteKey] of siteKeys.slice(0, LISTED).entries()) {
    const identity = { accountId, name: `Instance ${index}`, cname: `gate${index}.example.com`, globalSiteKey, policy };
    const made = await createInstance(env, identity, nowMs + index);
    if (made.ok) ids.push(made.value.id);
  }
  return ids;
}

async function makeRules(env: StoreEnv, accountId: string, nowMs: number): Promise<string[]> {
  await env.DB.prepare(
    `INSERT INTO access_control_rules (account_id, user_scope_hash, type, description, conditions, rule_group_id, expiry,
       created_at, updated_at)
     WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?3)
     SELECT ?1, lower(hex(randomblob(32))), 'block', printf('rule %d', value * 7919 % 10007),
       printf('[{"field":"ip","value":"10.0.%d.%d"}]', value / 256, value % 256), printf('group-%d', value % 20),
       ?2 + 3600000 + value, ?2 + value, ?2 + value FROM n`,
  )
    .bind(accountId, nowMs, RULES)
    .run();
  const rules = await env.DB.prepare('SELECT user_scope_hash AS hash FROM access_control_rules').all<{
    hash: string;
  }>();
  return rules.results.map(({ hash }) => hash);
}

/** Nine tenths of the captchas are of 29 days, the rest of the last day, and the newest are not sealed. Verdicts are of one day. */
export async function writeRecords(url: URL, account: FullAccount, records: number): Promise<void> {
  const lastDay = Math.floor(records / 10);
  const unsealed = Math.min(UNSEALED_RECORDS, lastDay);
  const day = { since: Date.now() - DAY_MS, stepMs: (DAY_MS - 60_000) / lastDay };
  const before = { since: Date.now() - 30 * DAY_MS, stepMs: (29 * DAY_MS) / (records - lastDay) };
  const post = async (path: string, body: object): Promise<void> => {
    const response = await fetch(new URL(path, url), { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
  };
  const { accountId, busySites, siteKeys, instanceId } = account;
  const write = async (path: string, span: object, from: number, until: number): Promise<void> => {
    for (let first = from; first < until; first += RECORDS_PER_CALL) {
      const count = Math.min(RECORDS_PER_CALL, until - first);
      await post(path, { ...span, accountId, busySites, siteKeys, first, count });
    }
  };
  await write('/bench/sealed', before, 0, records - lastDay);
  await write('/bench/sealed', day, 0, lastDay - unsealed);
  await post('/bench/restart', { accountId });
  await write('/bench/captchas', day, lastDay - unsealed, lastDay);
  const until = Date.now();
  await post('/bench/verdicts', {
    instanceId,
    first: 0,
    rows: VERDICTS,
    total: VERDICTS,
    since: until - DAY_MS,
    until,
  });
}
