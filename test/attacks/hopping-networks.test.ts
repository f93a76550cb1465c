/**
 * Somebody with a /48 has 65,536 networks of their own, and a cloud has many /24s of one /16. These clients use a new one
 * for every call, so that no budget of a single network ever fills. They try to keep the price at its base, and to use up what
 * belongs to all visitors of a site.
 */
import { describe, expect, test } from 'vitest';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { FIREFOX, browse } from '../support/browse.ts';
import { solveWork } from '../support/session.ts';
import { changeSite, eventually, letThrough, useStack } from '../support/stack.ts';

const stack = useStack({ seedChanges: letThrough });
const IN_PARALLEL = 10;

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

/** What a challenge costs that is solved, or `null` where its price has risen by too much meanwhile. */
async function solvedPrice(from: string, asked?: ChallengeResponse): Promise<number | null> {
  const { challenge, pow } = asked ?? (await challengeFrom(from));
  const { status, body } = await answered('solution', from, { challenge, solution: await solveWork(pow!) });
  expect(status).toBe(200);
  return (body as SolutionResponse).verified ? pow!.t! : null;
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
  test('does not keep the price at its base', async () => {
    const startedAt = performance.now();
    const prices = await hops(160, (hop) => solvedPrice(v6('2001:db8:2')(hop)));
    const seconds = (performance.now() - startedAt) / 1000;
    // 90 at once and three a second are free: the phones of a household.
    const base = prices[0]!;
    expect(prices.filter((price) => price === base).length).toBeLessThanOrEqual(90 + IN_PARALLEL + 3 * seconds);
    // However slow the machine was.
    const steps = prices.length - IN_PARALLEL - 3 * seconds > 90 ? 1 : 0;
    expect(Math.max(...prices.map(Number))).toBeGreaterThanOrEqual(base * 1.25 ** steps);
    expect(await solvedPrice('2001:db8:ffff:1::1')).toBe(base);
  });
});

describe('waiting', () => {
  test('opens to 30 hops of a /48, and locks out nobody who comes from elsewhere', async () => {
    await changeSite(stack(), { minimumLevel: 0 });
    const asked = () => post('challenge', '192.0.2.9', { action: 'contact', capabilities: { script: false } });
    await eventually(asked, ({ status }) => status === 200);
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

describe('a stock of challenges, asked for at the low price from every address of a /24,', () => {
  test('is worth no more than its first sixty', async () => {
    const ipAt = (hop: number): string => `198.18.7.${hop}`;
    const stock = await hops(120, (hop) => challengeFrom(ipAt(hop)));
    expect(new Set(stock.map(({ pow }) => pow!.t)).size).toBe(1);
    const startedAt = performance.now();
    const prices = await hops(stock.length, (hop) => solvedPrice(ipAt(hop), stock[hop]!));
    const seconds = (performance.now() - startedAt) / 1000;
    const counted = prices.filter((price) => price !== null).length;
    expect(counted).toBeGreaterThanOrEqual(60);
    expect(counted).toBeLessThanOrEqual(60 + IN_PARALLEL + seconds);
  });
});
