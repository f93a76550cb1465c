/**
 * The account that `npm run bench -- api` asks: 1,000 sites, 10,000 access control rules, the captcha records, a hundred each of
 * users, API keys and Protect instances, and one instance with edge rules and verdicts. Beside it a small account
 * with a hundred sites, for the one list that cannot be asked for less than everything.
 */
import { allPermissions } from '../src/cli/provision.ts';
import { instancePolicy } from '../src/contract/management/instance.ts';
import { siteSettings } from '../src/contract/management/site-settings.ts';
import { createAccount } from '../src/store/d1/accounts.ts';
import { apiKeyToken, createApiKey } from '../src/store/d1/api-keys.ts';
import type { StoreEnv } from '../src/store/binding.ts';
import { createInstance } from '../src/store/d1/instances.ts';
import { rootKey } from '../src/store/keys/root-key.ts';
import { createSite } from '../src/store/d1/sites.ts';
import { createUser } from '../src/store/d1/users.ts';

const SITES = 1000;
const RULES = 10_000;
/** A full page of what has no page. */
const LISTED = 100;
/** Sites most captchas belong to; one in eight belongs to any site. */
const BUSY_SITES = 10;
const VERDICTS = 20_000;
const DAY_MS = 86_400_000;
/** One segment. */
const RECORDS_PER_CALL = 10_000;
/** As many as are unsealed at most when captchas come at this rate. */
const UNSEALED_RECORDS = 14_000;

export interface FullAccount {
  accountId: string;
  token: string;
  siteKeys: string[];
  /** Of the last site. */
  siteKey: string;
  /** Those that have most captcha records. */
  busySites: string[];
  /** Of every access control rule. */
  scopeHashes: string[];
  /** The account's active instance: its rules and verdicts are asked for. */
  instanceId: string;
  /** Of an account with a hundred sites. */
  smallToken: string;
}

export async function fillAccount(env: StoreEnv): Promise<FullAccount> {
  const now = Date.now();
  const account = await createAccount(env, { ownerEmail: 'owner@example.com', tier: 'enterprise' }, now);
  const siteKeys = await makeSites(env, account.id, SITES, now);
  const small = await createAccount(env, { ownerEmail: 'small@example.com', tier: 'enterprise' }, now);
  await makeSites(env, small.id, LISTED, now);
  const instances = await makeInstances(env, account.id, siteKeys, now);
  for (let index = 1; index < LISTED; index++) {
    const user = { email: `member${index}@example.com`, name: 'Member', role: 'viewer' as const };
    await createUser(env, account.id, user, now + index);
    await tokenOf(env, account.id, now);
  }
  return {
    accountId: account.id,
    token: await tokenOf(env, account.id, now),
    siteKeys,
    siteKey: siteKeys.at(-1) ?? '',
    busySites: siteKeys.slice(-BUSY_SITES),
    scopeHashes: await makeRules(env, account.id, now),
    instanceId: instances[0] ?? '',
    smallToken: await tokenOf(env, small.id, now),
  };
}

async function tokenOf(env: StoreEnv, accountId: string, now: number): Promise<string> {
  const wanted = { accountId, name: 'bench', permissions: allPermissions(), expiresInSeconds: 86_400 };
  return apiKeyToken(await rootKey(env), await createApiKey(env, wanted, now));
}

async function makeSites(env: StoreEnv, accountId: string, count: number, now: number): Promise<string[]> {
  const settings = siteSettings.parse({ domains: ['example.com', '*.example.org'] });
  const siteKeys: string[] = [];
  for (let index = 0; index < count; index++) {
    const site = await createSite(env, { accountId, name: `site-${index}`, settings }, now + index);
    if (site.ok) siteKeys.push(site.value.siteKey);
  }
  return siteKeys;
}

async function makeInstances(
  env: StoreEnv,
  accountId: string,
  siteKeys: readonly string[],
  now: number,
): Promise<string[]> {
  const policy = instancePolicy.parse({});
  const ids: string[] = [];
  for (const [index, globalSiteKey] of siteKeys.slice(0, LISTED).entries()) {
    const identity = { accountId, name: `Instance ${index}`, cname: `gate${index}.example.com`, globalSiteKey, policy };
    const made = await createInstance(env, identity, now + index);
    if (made.ok) ids.push(made.value.id);
  }
  return ids;
}

async function makeRules(env: StoreEnv, accountId: string, now: number): Promise<string[]> {
  await env.DB.prepare(
    `INSERT INTO access_control_rules (account_id, user_scope_hash, type, description, conditions, rule_group_id, expiry,
       created_at, updated_at)
     WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?3)
     SELECT ?1, lower(hex(randomblob(32))), 'block', printf('rule %d', value * 7919 % 10007),
       printf('[{"field":"ip","value":"10.0.%d.%d"}]', value / 256, value % 256), printf('group-%d', value % 20),
       ?2 + 3600000 + value, ?2 + value, ?2 + value FROM n`,
  )
    .bind(accountId, now, RULES)
    .run();
  const rules = await env.DB.prepare('SELECT user_scope_hash AS hash FROM access_control_rules').all<{
    hash: string;
  }>();
  return rules.results.map(({ hash }) => hash);
}

/** Nine tenths over 29 days, the rest in the last; of that one the newest are not sealed. Verdicts: a day's. */
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
