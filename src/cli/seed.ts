/**
 * The account a local stack starts with, made once per state directory: enterprise tier, every feature, one
 * site, one instance with sessions on, html by default and `/api/*` json (design 6, 10).
 */
import { createAccount } from '../store/d1/accounts.ts';
import type { StoreEnv } from '../store/binding.ts';
import { allPermissions, provisionApiKey, provisionInstance, provisionSite } from './provision.ts';
import type { Seed, StateDir } from './state.ts';

const OWNER_EMAIL = 'owner@example.com';
/** A stack that is kept for months must still open with the key in its stack.json. */
const KEY_SECONDS = 10 * 365 * 86_400;

export async function seeded(state: StateDir, env: StoreEnv): Promise<Seed> {
  const kept = state.seed();
  if (kept) return kept;
  const now = Date.now();
  const account = await createAccount(env, { ownerEmail: OWNER_EMAIL, tier: 'enterprise' }, now);
  const site = await provisionSite(
    env,
    {
      accountId: account.id,
      name: 'demo',
      // Proof of work: frictionless would give the headless browser of a test a picture.
      settings: { domains: ['localhost', '127.0.0.1'], captchaType: 'pow' },
    },
    now,
  );
  const instance = await provisionInstance(
    env,
    {
      accountId: account.id,
      name: 'Local stack',
      cname: 'localhost',
      globalSiteKey: site.siteKey,
      policy: {
        sessionsEnabled: true,
        autoInject: true,
        endpointRules: [{ pattern: '/api/**', pathType: 'json' }],
        // Every browser that a test drives is automation: here scores are shown and decide nothing.
        challengeThreshold: 1,
        blockThreshold: 1,
        challengeDifficulty: [],
      },
    },
    now,
  );
  const key = await provisionApiKey(
    env,
    { accountId: account.id, name: 'local-stack', permissions: allPermissions(), expiresInSeconds: KEY_SECONDS },
    now,
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

/** The edge's credential, asked for as an operator would: over the management API, with the API key. */
export async function clientJwt(state: StateDir, seed: Seed, serviceUrl: string): Promise<string> {
  if (seed.clientJwt !== undefined) return seed.clientJwt;
  const response = await fetch(`${serviceUrl}/protect/client-jwt/generate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${seed.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ protectInstanceId: seed.instanceId, expiresInWeeks: 0 }),
  });
  if (!response.ok) throw new Error(`No client JWT: ${response.status} ${await response.text()}`);
  const answer = (await response.json()) as { clientJwt: string };
  state.keepSeed({ ...seed, clientJwt: answer.clientJwt });
  return answer.clientJwt;
}
