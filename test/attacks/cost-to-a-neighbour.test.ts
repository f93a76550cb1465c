/**
 * What somebody sends in vain costs nobody else in their /24: what they ask for and never solve counts for their own
 * address. After each attack a neighbour gets their first page, a session and a token at the price of a quiet day.
 */
import { expect, test } from 'vitest';
import type { SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import { browse } from '../support/browse.ts';
import { challengeFor, type Headers, newVisitor, tokenOf } from '../support/gate.ts';
import { sessionAt } from '../support/edge-session.ts';
import { loadNonceOf } from '../support/page-load.ts';
import { solvedSession } from '../support/session.ts';
import { useStack } from '../support/stack.ts';

const stack = useStack();
const PARALLEL = 20;
const asPicture = { 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors', accept: 'image/*' };
/** Squarings of a session, where nothing raises its price. */
const SESSION_PRICE = 150_000;

async function inParallel(count: number, send: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await send(index);
  };
  await Promise.all(Array.from({ length: PARALLEL }, sender));
}

const sessionCall = (visitor: Headers) => sessionAt(stack().edgeUrl, visitor);

/** First page, session and form of a newcomer, as on a quiet day. */
async function expectNothingNoticed(visitor: Headers, captchaPrice: number): Promise<void> {
  const page = await browse(stack().edgeUrl, { headers: visitor });
  const load = loadNonceOf(await page.text());
  expect([page.status, page.headers.get('x-protect-decision')]).toEqual([200, 'allow']);
  const asked = (await sessionCall(visitor)({ load })).body as SessionChallenge;
  expect(asked.pow.t).toBe(SESSION_PRICE);
  expect((await sessionCall(visitor)({ ...(await solvedSession(asked)), load })).status).toBe(200);
  const challenge = await challengeFor(stack(), visitor);
  expect(challenge.pow?.t).toBe(captchaPrice);
  expect(await tokenOf(stack(), visitor, challenge)).not.toBe('');
}

const plainRequest = async (from: string, headers: Record<string, string> = {}): Promise<void> => {
  const response = await browse(stack().edgeUrl, { headers: { ...newVisitor(stack(), from), ...headers } });
  await response.arrayBuffer();
};

const attacks: [string, (ip: (host: number) => string) => Promise<void>][] = [
  [
    '250 challenges of a session, asked for and not solved',
    (ip) => inParallel(250, (index) => sessionCall(newVisitor(stack(), ip(1 + (index % 2))))({})),
  ],
  [
    '250 challenges of a captcha, asked for and not solved',
    (ip) => inParallel(250, (index) => challengeFor(stack(), newVisitor(stack(), ip(1 + (index % 2))))),
  ],
  ['200 plain requests of pages', (ip) => inParallel(200, (index) => plainRequest(ip(1 + (index % 3))))],
  [
    '200 pages that are asked for as pictures',
    (ip) => inParallel(200, (index) => plainRequest(ip(1 + (index % 3)), asPicture)),
  ],
];

test.each(attacks.map(([title, attack], index) => ({ title, attack, index })))(
  'a neighbour notices nothing of $title',
  async ({ attack, index }) => {
    const usual = (await challengeFor(stack(), newVisitor(stack()))).pow?.t ?? 0;
    const ip = (host: number): string => `10.78.${index}.${host}`;
    await attack(ip);
    for (const host of [201, 202, 203]) await expectNothingNoticed(newVisitor(stack(), ip(host)), usual);
  },
);
