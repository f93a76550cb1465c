/**
 * Somebody with a /48 has 65,536 networks of their own, and a cloud has many /24s of one /16. These clients use a new one
 * for every call, so that no budget of a single network ever fills. They try to keep the price at its base, to use up what
 * belongs to all visitors of a site, and to come as a new visitor each time.
 */
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import type {
  ChallengeResponse,
  SessionChallenge,
  SolutionResponse,
} from '../../src/contract/captcha/challenge-api.ts';
import { detectorsOf } from '../../src/contract/edge/risk-detectors.ts';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { FIREFOX, browse } from '../support/browse.ts';
import { sessionAt, sessionCookieAt } from '../support/edge-session.ts';
import { changeSite, eventually, letThrough, useStack } from '../support/stack.ts';

const CYCLING = { threshold: 1, windowSeconds: 3600 };
const stack = useStack({ seedChanges: { ...letThrough, policy: { ...letThrough.policy, cookieCycling: CYCLING } } });
const IN_PARALLEL = 10;
/** Drops in the bucket of one network from which a challenge costs half a step more each. */
const STEPS_FROM = [30, 60, 120, 240];

/** `prefix` with the number of the hop as its next group. */
const v6 =
  (prefix: string) =>
  (hop: number): string =>
    `${prefix}:${hop.toString(16)}::1`;
const headersFrom = (from: string) => ({ 'user-agent': FIREFOX, ...signalsOf(stack(), { from, country: 'DE' }) });

/** A few calls at a time, in order of their start. */
async function hops<Result>(count: number, call: (hop: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const one = async (): Promise<void> => {
    for (let hop = next++; hop < count; hop = next++) results[hop] = await call(hop);
  };
  await Promise.all(Array.from({ length: IN_PARALLEL }, one));
  return results;
}

async function post(path: string, from: string, body: object): Promise<{ status: number; body: unknown }> {
  const response = await browse(`${stack().edgeUrl}/__protect/${path}`, {
    method: 'POST',
    headers: { ...headersFrom(from), 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

/** The edge of a busy machine may find the service late. Then the client asks again. */
const answered = (path: string, from: string, sent: object) =>
  eventually(
    () => post(path, from, sent),
    ({ status }) => status !== 503,
  );

async function challengeFrom(from: string, capabilities: object = {}): Promise<ChallengeResponse> {
  const { status, body } = await answered('challenge', from, { action: 'contact', capabilities });
  expect(status).toBe(200);
  return body as ChallengeResponse;
}

const squarings = async (from: string): Promise<number> => (await challengeFrom(from)).pow!.t!;

interface Hopped {
  prices: number[];
  /** Half steps that the last of so many calls must have cost, however slow the machine was. */
  steps: number;
  seconds: number;
}

/** `times`: what the larger network is allowed, beside one network's drop a second. */
async function pricesOf(count: number, times: number, price: (hop: number) => Promise<number>): Promise<Hopped> {
  const startedAt = performance.now();
  const prices = await hops(count, price);
  const seconds = (performance.now() - startedAt) / 1000;
  const drops = count - IN_PARALLEL - seconds * times;
  return { prices, seconds, steps: STEPS_FROM.filter((from) => drops > from * times).length };
}

async function waitingFrom(from: string): Promise<string> {
  const { pow, challenge } = await challengeFrom(from, { script: false });
  expect(pow?.lane).toBe('wait');
  return challenge;
}

async function hasWaited(challenge: string, from: string): Promise<boolean> {
  const { status, body } = await answered('solution', from, { challenge, solution: {} });
  expect(status).toBeLessThan(500);
  return status === 200 && (body as SolutionResponse).verified;
}

describe('hopping through the networks of a /48', () => {
  test('does not keep the price of a challenge at its base', async () => {
    const base = await squarings('2001:db8:ffff:1::1');
    const { prices, seconds, steps } = await pricesOf(700, 10, (hop) => squarings(v6('2001:db8:1')(hop)));
    // 300 at once and ten a second are free: the people of a town.
    expect(prices.filter((price) => price === base).length).toBeLessThanOrEqual(300 + 10 * seconds);
    expect(Math.max(...prices)).toBeGreaterThanOrEqual(base * 1.25 ** steps);
    expect(await squarings('2001:db8:ffff:1::1')).toBe(base);
  });

  test('costs more sooner in one household’s /56', async () => {
    const base = await squarings('2001:db8:ffff:2::1');
    const ipAt = v6('2001:db8:2');
    const { prices, seconds, steps } = await pricesOf(300, 3, (hop) => squarings(ipAt(hop % 256)));
    expect(prices.filter((price) => price === base).length).toBeLessThanOrEqual(90 + 3 * seconds);
    expect(Math.max(...prices)).toBeGreaterThanOrEqual(base * 1.25 ** steps);
  });

  test('doubles the price of sessions at each step', async () => {
    const ask = async (from: string): Promise<number> => {
      const opening = () => sessionAt(stack().edgeUrl, headersFrom(from))({});
      const { status, body } = await eventually(opening, (response) => response.status !== 503);
      expect(status).toBe(200);
      return (body as SessionChallenge).pow.t!;
    };
    const base = await ask('198.51.100.1');
    const { prices, seconds, steps } = await pricesOf(700, 10, (hop) => ask(v6('2001:db8:3')(hop)));
    expect(prices.filter((price) => price === base).length).toBeLessThanOrEqual(300 + 10 * seconds);
    expect(Math.max(...prices)).toBeGreaterThanOrEqual(base * 1.99 ** steps);
    expect(await ask('198.51.100.1')).toBe(base);
  });

  test('does not make a new visitor of the same one', async () => {
    const fired: string[][] = [];
    for (let hop = 0; hop < 12; hop++) {
      const cookie = await sessionCookieAt(stack().edgeUrl, headersFrom(v6('2001:db8:4')(hop * 256)));
      const jwt = decodeURIComponent(cookie).split('|')[1] ?? '';
      fired.push(detectorsOf(decodeJwt<{ det?: number }>(jwt).det ?? 0));
    }
    expect(fired.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => []));
    expect(fired.slice(10)).toEqual([['cookie-cycling'], ['cookie-cycling']]);
  });
});

describe('waiting', () => {
  test('opens to 30 hops of a /48, and locks out nobody who comes from elsewhere', async () => {
    await changeSite(stack(), { minimumLevel: 0 });
    const from = v6('2001:db8:5');
    const waiting = await hops(320, (hop) => waitingFrom(from(hop)));
    const genuine = await waitingFrom('192.0.2.1');
    // The newest of them opens after all others.
    const last = waiting.length - 1;
    await eventually(
      () => hasWaited(waiting[last]!, from(last)),
      (isOpen) => isOpen,
    );
    const opened = await hops(last, (hop) => hasWaited(waiting[hop]!, from(hop)));
    expect(opened.filter(Boolean)).toHaveLength(29);
    const patient = () => hasWaited(genuine, '192.0.2.1');
    expect(await eventually(patient, (isOpen) => isOpen)).toBe(true);
  });
});

describe('hopping through the /24s of a /16', () => {
  test('does not keep the price at its base either', async () => {
    const base = await squarings('198.51.100.7');
    const ipAt = (hop: number): string => `198.18.${hop % 256}.${hop % 250}`;
    const { prices, seconds, steps } = await pricesOf(500, 10, (hop) => squarings(ipAt(hop)));
    expect(prices.filter((price) => price === base).length).toBeLessThanOrEqual(300 + 10 * seconds);
    expect(Math.max(...prices)).toBeGreaterThanOrEqual(base * 1.25 ** steps);
    expect(await squarings('198.51.100.7')).toBe(base);
  });
});
