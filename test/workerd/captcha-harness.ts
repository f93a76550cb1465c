/**
 * What the captcha tests share: the real routes over the real bindings, a browser's headers, and the first steps of
 * every test.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env as testEnv } from 'cloudflare:workers';
import { afterAll, beforeAll, expect } from 'vitest';
import { Keyring } from '../../src/captcha/seal/keyring.ts';
import { solveRsw, solveSha256 } from '../../src/captcha/pow/pow-solve.ts';
import { newJti } from '../../src/captcha/seal/sealed-course.ts';
import { openChallenge, sealChallenge, type SealedChallenge } from '../../src/captcha/seal/sealed-challenge.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { siteSettings } from '../../src/contract/management/site-settings.ts';
import type { AccountTier } from '../../src/contract/vocabulary.ts';
import { serviceApp } from '../../src/service/app.ts';
import { captchaRoutes } from '../../src/service/captcha/captcha-routes.ts';
import { consoleRoutes } from '../../src/service/console/console-routes.ts';
import { referenceRoutes } from '../../src/service/operations/reference/reference-routes.ts';
import { createAccount } from '../../src/store/d1/accounts.ts';
import { deriveKey } from '../../src/store/keys/master-key.ts';
import { createSite, type SiteRecord } from '../../src/store/d1/sites.ts';
import { Hono } from 'hono';
import type { ServiceHonoEnv } from '../../src/service/http/service-call.ts';
import { rootKey } from '../../src/store/keys/root-key.ts';
import { background } from '../support/background-work.ts';
import { later, testNow } from '../support/clock.ts';

export const env = testEnv as unknown as ServiceEnv;
const app = serviceApp({
  operations: [],
  edgeRoutes: [],
  captcha: captchaRoutes(),
  docs: new Hono<ServiceHonoEnv>(),
  reference: referenceRoutes(),
  console: consoleRoutes(),
});
let counter = 0;
export const keyring = new Keyring(async (label) => deriveKey(await rootKey(env), label));

const browser = {
  'content-type': 'application/json',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'accept-language': 'en',
  'sec-fetch-site': 'cross-site',
  origin: 'https://www.example.com',
};

export interface Answer<Body> {
  status: number;
  body: Body;
  headers: Headers;
}
type Failure = { error: { code: number; key: string; message: string } };

/** A network that no other test uses, so that no limit is shared. */
export function freshAddress(): string {
  counter++;
  return `10.${(counter >> 8) & 255}.${counter & 255}.7`;
}

/** More than the least time of a device, and less than any limit of a challenge. */
const SOLVE_MS = 400;
let bindings = env;
/** For one file: a service with the operator's facts about addresses. */
export function knowAddresses(facts: object): void {
  bindTo({ ...env, ADDRESS_FACTS: JSON.stringify(facts) } as ServiceEnv);
}

/** For one file: a service with these bindings. */
export function bindTo(given: ServiceEnv): void {
  beforeAll(() => {
    bindings = given;
  });
  afterAll(() => {
    bindings = env;
  });
}

export async function send(request: Request): Promise<Response> {
  const context = createExecutionContext();
  const response = await app.fetch(request, bindings, context);
  // Records are written after the response. Tests do not wait for them; the end of the file does.
  background.push(waitOnExecutionContext(context));
  return response;
}

/** `null` in `headers` leaves a header out. */
export async function post<Body = Failure>(
  path: string,
  body: unknown,
  headers: Record<string, string | null> = {},
): Promise<Answer<Body>> {
  const merged = { ...browser, 'cf-connecting-ip': freshAddress(), ...headers };
  const given = Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== null);
  const response = await send(
    new Request(`https://gatehouse.test${path}`, {
      method: 'POST',
      headers: given,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  );
  return { status: response.status, body: await response.json<Body>(), headers: response.headers };
}

export async function makeAccount(tier: AccountTier): Promise<string> {
  const account = await createAccount(env, { tier, ownerEmail: `owner-${crypto.randomUUID()}@example.com` }, testNow());
  return account.id;
}

export async function makeSite(
  tier: AccountTier,
  settings: Record<string, unknown> = {},
  accountId?: string,
): Promise<SiteRecord> {
  const site = await createSite(
    env,
    {
      accountId: accountId ?? (await makeAccount(tier)),
      name: `site-${++counter}`,
      settings: siteSettings.parse({ domains: ['example.com'], captchaType: 'pow', powDifficulty: 1, ...settings }),
    },
    testNow(),
  );
  if (!site.ok) throw new Error(site.error);
  return site.value;
}

/** A proof of work takes a moment by the test clock, as it does on any device. */
export async function solvePow(challenge: ChallengeResponse): Promise<Record<string, unknown>> {
  later(SOLVE_MS);
  const { lane, n = '', x = '', t = 0, salt = '', count = 0, bits = 0 } = challenge.pow ?? {};
  if (lane === 'rsw') return { y: await solveRsw({ n, x, t }, undefined, undefined, null) };
  if (lane === 'sha256') return { counters: await solveSha256({ salt, count, bits }, undefined, undefined, null) };
  return {};
}

/** The picture or recording of a site that wants one, after the proof of work before it and the one beside it. */
export async function askForPicture(
  site: { siteKey: string },
  extra: Record<string, unknown> = {},
  headers: Record<string, string | null> = {},
): Promise<ChallengeResponse> {
  const sent = { 'cf-connecting-ip': freshAddress(), ...headers };
  const picture = await askForUnpaidPicture(site, extra, sent);
  const paid = await handIn(picture.challenge, await solvePow(picture), sent);
  expect(paid.body).toMatchObject({ verified: false, next: { jti: picture.jti } });
  return paid.body.next!;
}

/** A picture with the work beside it. */
export async function askForUnpaidPicture(
  site: { siteKey: string },
  extra: Record<string, unknown> = {},
  headers: Record<string, string | null> = {},
): Promise<ChallengeResponse> {
  const sent = { 'cf-connecting-ip': freshAddress(), ...headers };
  const challenge = await ask(site, extra, sent);
  const paid = await handIn(challenge.challenge, await solvePow(challenge), sent);
  expect(paid.body).toMatchObject({ verified: false, next: { jti: challenge.jti } });
  return paid.body.next!;
}

export async function ask(
  site: { siteKey: string },
  extra: Record<string, unknown> = {},
  headers: Record<string, string | null> = {},
): Promise<ChallengeResponse> {
  const answer = await post<ChallengeResponse>('/captcha/v1/challenge', { siteKey: site.siteKey, ...extra }, headers);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

export async function handIn(
  challenge: string,
  solution: Record<string, unknown>,
  headers: Record<string, string | null> = {},
  extra: Record<string, unknown> = {},
): Promise<Answer<SolutionResponse>> {
  return post<SolutionResponse>('/captcha/v1/solution', { challenge, solution, ...extra }, headers);
}

/** A token from a solved proof of work. */
export async function tokenFor(
  site: { siteKey: string },
  extra: Record<string, unknown> = {},
  headers: Record<string, string | null> = {},
): Promise<string> {
  const sent = { 'cf-connecting-ip': freshAddress(), ...headers };
  const challenge = await ask(site, extra, sent);
  const solved = await handIn(challenge.challenge, await solvePow(challenge), sent);
  expect(solved.body).toMatchObject({ verified: true });
  return solved.body.token ?? '';
}

/** Solves the work of `easyChallenges`. */
export const EASY_SOLUTION = { counters: 'AAAAAA' };

/** Challenges that were asked for at the price of now, but whose work is one hash, so that a burst costs a test nothing. */
export async function easyChallenges(
  site: { siteKey: string },
  count: number,
  extra: Record<string, unknown> = {},
  headers: Record<string, string | null> = {},
): Promise<string[]> {
  const { params, ...challenge } = await opened(await ask(site, extra, headers));
  const { steps } = params;
  const easy = { ...challenge, lane: 'sha256', params: { salt: 'A'.repeat(22), bits: 0, steps } } as const;
  return Promise.all(Array.from({ length: count }, () => sealChallenge(keyring, { ...easy, jti: newJti() }, null)));
}

/** Solves so many challenges of one address at once. */
export async function solveBurst(
  site: { siteKey: string },
  count: number,
  extra: Record<string, unknown>,
  headers: Record<string, string | null>,
): Promise<void> {
  for (const sealed of await easyChallenges(site, count, extra, headers)) {
    expect((await handIn(sealed, EASY_SOLUTION, headers)).body).toMatchObject({ verified: true });
  }
}

/** The part of a challenge that only the service can read. */
export async function opened(challenge: ChallengeResponse): Promise<SealedChallenge> {
  const read = await openChallenge(keyring, challenge.challenge, testNow());
  if (read === null) throw new Error('the challenge did not open');
  return read.challenge;
}

/** What an edge sends about its visitor when it requests a challenge. */
export const edgeVisitor = {
  ip: '203.0.113.7',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  asn: 64_496,
  country: 'DE',
  ja4: null,
  ipCategories: [],
  requestId: 'r',
  host: 'www.example.com',
};
