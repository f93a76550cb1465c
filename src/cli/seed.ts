/**
 * The account that a local stack starts with, created once per state directory: enterprise tier, every feature, one
 * site, and one enforcing instance with sessions, where `/api/*` is json and everything else html.
 */
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import type { JWTPayload } from 'jose';
import { createAccount, listAccounts } from '../store/d1/accounts.ts';
import type { StoreEnv } from '../store/binding.ts';
import { allPermissions, provisionApiKey, provisionInstance, provisionSite } from './provision.ts';
import type { Seed, StateDir } from './state.ts';
import { damaged, mismatch } from './state-files.ts';

const OWNER_EMAIL = 'owner@example.com';
/** Ten years, so that the key in stack.json still works in a stack that is kept for months. */
const KEY_SECONDS = 10 * 365 * 86_400;

/** What a test's instance and site have instead of the defaults. */
export interface SeedChanges {
  policy?: object;
  settings?: object;
}

export async function seeded(state: StateDir, env: StoreEnv, changes: SeedChanges = {}): Promise<Seed> {
  const kept = state.seed();
  const accounts = await listAccounts(env);
  // An owner without a seed, or a seed without its account, would start a stack whose keys fail at every call.
  const hasAccount = accounts.some(({ id, ownerEmail }) => (kept ? id === kept.accountId : ownerEmail === OWNER_EMAIL));
  if (hasAccount !== (kept !== null)) throw mismatch(state.path, 'seed.json');
  if (kept) return kept;
  const nowMs = Date.now();
  const account = await createAccount(env, { ownerEmail: OWNER_EMAIL, tier: 'enterprise' }, nowMs);
  const site = await provisionSite(
    env,
    {
      account,
      name: 'demo',
      settings: { domains: ['localhost', '127.0.0.1'], ...changes.settings },
    },
    nowMs,
  );
  const instance = await provisionInstance(
    env,
    {
      accountId: account.id,
      name: 'Local stack',
      cname: 'localhost',
      globalSiteKey: site.siteKey,
      policy: {
        // A demo that only records shows little. Everything else is the default of a new instance.
        monitor: false,
        endpointRules: [{ pattern: '/api/**', pathType: 'json' }],
        ...changes.policy,
      },
    },
    nowMs,
  );
  const key = await provisionApiKey(
    env,
    { accountId: account.id, name: 'local-stack', permissions: allPermissions(), expiresInSeconds: KEY_SECONDS },
    nowMs,
  );
  const seed: Seed = {
    accountId: account.id,
    ownerEmail: account.ownerEmail,
    apiKey: key.token,
    siteKey: site.siteKey,
    secretKey: site.secretKey,
    instanceId: instance.id,
  };
  state.keepSeed(seed);
  return seed;
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
    throw damaged(join(state.path, 'seed.json'));
  }
}
