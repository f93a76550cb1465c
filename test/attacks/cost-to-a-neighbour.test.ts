/**
 * What somebody sends in vain costs nobody else in their /24, and what they ask for and never solve costs nobody at their
 * own address either. After each attack a neighbour gets their first page, a session and a token at the price of a quiet day.
 */
import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import type { SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import { browse, FIREFOX } from '../support/browse.ts';
import { challengeFor, type Headers, newVisitor, tokenOf, withCookie } from '../support/gate.ts';
import { sessionAt } from '../support/edge-session.ts';
import { loadNonceOf } from '../support/page-load.ts';
import { earnSession, solvedSession } from '../support/session.ts';
import { useStack } from '../support/stack.ts';

const stack = useStack();
const PARALLEL = 20;
/** Pages of a visitor with a session: fewer than a person opens in ten minutes. */
const TRIES = 10;
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

/** A visitor's first page, and the session that it opens. */
async function firstVisit(visitor: Headers) {
  const page = await browse(stack().edgeUrl, { headers: visitor });
  const load = loadNonceOf(await page.text());
  const asked = (await sessionCall(visitor)({ load })).body as SessionChallenge;
  const { cookie } = await sessionCall(visitor)({ ...(await solvedSession(asked)), load });
  const decision = [page.status, page.headers.get('x-protect-decision')];
  return { seen: { decision, price: asked.pow.t, risk: riskOf(cookie) }, cookie };
}

/** First page, session and form of a newcomer, as on a quiet day. */
async function expectNothingNoticed(visitor: Headers, captchaPrice: number): Promise<void> {
  const { seen, cookie } = await firstVisit(visitor);
  expect(seen).toEqual({ decision: [200, 'allow'], price: SESSION_PRICE, risk: expect.any(Number) });
  expect(seen).toEqual((await firstVisit(newVisitor(stack()))).seen);
  for (let tries = 0; tries < TRIES; tries++) {
    const next = await browse(stack().edgeUrl, { headers: withCookie(visitor, cookie) });
    await next.arrayBuffer();
    expect(next.status).toBe(200);
  }
  const challenge = await challengeFor(stack(), visitor);
  expect(challenge.pow?.t).toBe(captchaPrice);
  expect(await tokenOf(stack(), visitor, challenge)).not.toBe('');
}

const plainRequest = async (from: string, headers: Record<string, string> = {}): Promise<void> => {
  const response = await browse(stack().edgeUrl, { headers: { ...newVisitor(stack(), from), ...headers } });
  await response.arrayBuffer();
};

const riskOf = (cookie: string): number => decodeJwt<{ risk: number }>(decodeURIComponent(cookie).split('|')[1]!).risk;

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
  [
    'twelve invented sessions without input',
    (ip) => inParallel(12, (index) => earnSession(sessionCall(newVisitor(stack(), ip(1 + (index % 3)))))),
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

test.each<[string, string, (visitor: Headers) => Promise<unknown>]>([
  ['session', '10.81.0.1', (visitor) => sessionCall(visitor)({})],
  ['captcha', '10.82.0.1', (visitor) => challengeFor(stack(), visitor, { action: 'contact' })],
  ['clearance', '10.83.0.1', (visitor) => challengeFor(stack(), visitor)],
])('250 challenges of a %s, asked for and not solved, change no price at the same address', async (_, ip, ask) => {
  const prices = async (visitor: Headers) => [
    ((await sessionCall(visitor)({})).body as SessionChallenge).pow.t,
    (await challengeFor(stack(), visitor, { action: 'contact' })).pow?.t,
    (await challengeFor(stack(), visitor)).pow?.t,
  ];
  const office = newVisitor(stack(), ip);
  await inParallel(250, () => ask(office));
  expect(await prices(office)).toEqual(await prices(newVisitor(stack())));
});

test('a cookie that somebody planted gives its victim a session like any other', async () => {
  const attacker = newVisitor(stack(), '10.79.0.1');
  const planted = (await earnSession(sessionCall(attacker))).cookie;
  const victim = { ...newVisitor(stack(), '10.80.0.1'), 'user-agent': `${FIREFOX} another` };
  const risk = riskOf((await earnSession(sessionCall(victim))).cookie);
  const { cookie } = await earnSession(sessionCall(withCookie(victim, planted)));
  expect(riskOf(cookie)).toBe(risk);
});
