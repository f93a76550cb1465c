/**
 * The account that a local stack starts with, created once per state directory: enterprise tier, every feature, one
 * site, and one enforcing instance with sessions, where `/api/*` is json and everything else html.
 */
import { join } from 'node:path';
import { decodeJwt, type JWTPayload } from 'jose';
import type { StoreEnv } from '../store/binding.ts';
import { type AccountRecord, createAccount, listAccounts } from '../store/d1/accounts.ts';
import { apiKeyToken, apiKeysOfAccount } from '../store/d1/api-keys.ts';
import { instancesOfAccount, type StoredInstance } from '../store/d1/instances.ts';
import { type SiteRecord, sitesOfAccount } from '../store/d1/sites.ts';
import { rootKey } from '../store/keys/root-key.ts';
import { CommandError } from './command-line.ts';
import { activateSite, allPermissions, provisionApiKey, provisionInstance, provisionSite } from './provision.ts';
import type { Seed, StateDir } from './state.ts';
import { damaged, mismatch } from './state-files.ts';

const OWNER_EMAIL = 'owner@example.com';
const SITE_NAME = 'demo';
const CNAME = 'localhost';
const KEY_NAME = 'local-stack';
/** Ten years, so that the key in stack.json still works in a stack that is kept for months. */
const KEY_SECONDS = 10 * 365 * 86_400;

/** What a test's instance and site have instead of the defaults. */
export interface SeedChanges {
  policy?: object;
  settings?: object;
}

export interface AccountSeed {
  ownerEmail?: string;
  seedChanges?: SeedChanges;
}

/** A lost `seed.json` is written again. */
export async function seeded(state: StateDir, env: StoreEnv, wanted: AccountSeed): Promise<Seed> {
  const kept = state.seed();
  if (kept === null) return seedAccount(state, env, wanted);
  const accounts = await listAccounts(env);
  // A seed without its account would start a stack whose keys fail at every call.
  if (!accounts.some(({ id }) => id === kept.accountId)) throw mismatch(state.path, 'seed.json');
  return kept;
}

/**
 * What a start that was killed has already made is found by its names and used, so that every start ends with one account
 * of this owner, one site, one instance and one key.
 */
export async function seedAccount(
  state: StateDir,
  env: StoreEnv,
  { ownerEmail = OWNER_EMAIL, seedChanges = {} }: AccountSeed,
): Promise<Seed> {
  const nowMs = Date.now();
  const accounts = await listAccounts(env);
  const account =
    accounts.find((known) => known.ownerEmail === ownerEmail) ??
    (await createAccount(env, { ownerEmail, tier: 'enterprise' }, nowMs));
  const { instance, site } = await demo(env, account, seedChanges, nowMs).catch((error: unknown) => {
    // Something else has the names by now.
    throw error instanceof CommandError ? mismatch(state.path, 'seed.json') : error;
  });
  const seed: Seed = {
    accountId: account.id,
    ownerEmail: account.ownerEmail,
    apiKey: await apiKey(env, account, nowMs),
    siteKey: site.siteKey,
    secretKey: site.secretKey,
    instanceId: instance.id,
  };
  state.keepSeed(seed);
  return seed;
}

async function demo(
  env: StoreEnv,
  account: AccountRecord,
  changes: SeedChanges,
  nowMs: number,
): Promise<{ instance: StoredInstance; site: SiteRecord }> {
  const sites = await sitesOfAccount(env, account.id);
  const instances = await instancesOfAccount(env, account.id);
  const made = instances.find(({ active, cname }) => active && cname === CNAME);
  const itsSite = sites.find(({ siteKey }) => siteKey === made?.globalSiteKey);
  if (made && itsSite) return { instance: made, site: itsSite };
  const settings = { domains: ['localhost', '127.0.0.1'], ...changes.settings };
  const known = sites.find(({ name }) => name === SITE_NAME);
  const site = known
    ? await activateSite(env, account, known.siteKey, nowMs)
    : await provisionSite(env, { account, name: SITE_NAME, settings }, nowMs);
  const policy = {
    // A demo that only records shows little. Everything else is the default of a new instance.
    monitor: false,
    endpointRules: [{ pattern: '/api/**', pathType: 'json' }],
    ...changes.policy,
  };
  const wanted = { accountId: account.id, name: 'Local stack', cname: CNAME, globalSiteKey: site.siteKey, policy };
  return { instance: await provisionInstance(env, wanted, nowMs), site };
}

async function apiKey(env: StoreEnv, account: AccountRecord, nowMs: number): Promise<string> {
  const keys = await apiKeysOfAccount(env, account.id);
  const made = keys.find(({ name, expiresAt }) => name === KEY_NAME && expiresAt > nowMs);
  if (made) return apiKeyToken(await rootKey(env), made);
  const wanted = {
    accountId: account.id,
    name: KEY_NAME,
    permissions: allPermissions(),
    expiresInSeconds: KEY_SECONDS,
  };
  return (await provisionApiKey(env, wanted, nowMs)).token;
}

/**
 * The edge's credential. It is requested as an operator would: over the management API, with the API key. Its issuer is
 * the service's address, so a stack on other ports gets another one, and the previous one is revoked.
 */
export async function clientJwt(state: StateDir, seed: Seed, serviceUrl: string): Promise<string> {
  const kept = seed.clientJwt === undefined ? null : claimsOf(state, seed.clientJwt);
  if (seed.clientJwt !== undefined && kept?.iss === serviceUrl) return seed.clientJwt;
  const call = (operation: string, body: object): Promise<Response> =>
    fetch(`${serviceUrl}/protect/client-jwt/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${seed.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ protectInstanceId: seed.instanceId, ...body }),
    });
  const response = await call('generate', { expiresInWeeks: 0 });
  if (!response.ok)
    throw new Error(`The service issued no client JWT. It returned ${response.status} ${await response.text()}`);
  const issued = (await response.json()) as { clientJwt: string };
  state.keepSeed({ ...seed, clientJwt: issued.clientJwt });
  if (kept?.jti !== undefined) await call('revoke', { jti: kept.jti });
  return issued.clientJwt;
}

function claimsOf(state: StateDir, jwt: string): JWTPayload {
  try {
    return decodeJwt(jwt);
  } catch {
    throw damaged(join(state.path, 'seed.json'), state.path);
  }
}
