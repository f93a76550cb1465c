/** What the session of a newcomer costs after others at the address asked for hundreds, or opened a burst of them. */
import { describe, expect, test } from 'vitest';
import { Keyring } from '../../../src/captcha/seal/keyring.ts';
import { openSealedSession, sealSession } from '../../../src/captcha/seal/sealed-session.ts';
import type { SessionChallenge } from '../../../src/contract/captcha/challenge-api.ts';
import { edgeSession } from '../../../src/contract/edge/edge-responses.ts';
import { newJtiFor } from '../../../src/store/risk-book/client/session-books.ts';
import { deriveKey } from '../../../src/store/keys/master-key.ts';
import { rootKey } from '../../../src/store/keys/root-key.ts';
import { later, testNow } from '../../support/clock.ts';
import { PERSONS_BROWSER, solvedSession } from '../../support/session.ts';
import { edgeVisitorAt } from '../../unit/risk/session-facts.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';

const MINUTE_MS = 60_000;
/** Squarings. */
const SESSION_PRICE = 150_000;
/** A work of one hash, so that a burst costs the test nothing. */
const EASY_WORK = { salt: 'A'.repeat(22), bits: 0 };
const EASY_SOLUTION = { counters: 'AAAAAA' };
const OFFICE = '192.0.2.1';

const keyring = new Keyring(async (label) => deriveKey(await rootKey(serviceEnv), label));
let names = 0;
async function newShop() {
  const owner = await newAccount();
  const { body: instance } = await call(owner.token, '/protect/instances/create', {
    name: 'Shop',
    cname: `price${names++}.example.org`,
    globalSiteKey: owner.site.siteKey,
  });
  const { body: issued } = await call(owner.token, '/protect/client-jwt/generate', {
    protectInstanceId: instance.id,
    expiresInWeeks: 1,
  });
  const post = async (page: object, ip = OFFICE) => {
    const { status, body } = await call(issued.clientJwt, '/edge/v1/sessions', { visitor: edgeVisitorAt(ip), page });
    expect(status).toBe(200);
    return body as SessionChallenge;
  };
  /** Pages that open sessions for what the price is now. */
  const easyStock = async (count: number, ip = OFFICE) => {
    const { challenge: asked } = await post({}, ip);
    const { challenge } = (await openSealedSession(keyring, asked, testNow()))!;
    const { steps } = challenge.params;
    const easy = { ...challenge, lane: 'sha256', params: { ...EASY_WORK, steps } } as const;
    return Promise.all(
      Array.from({ length: count }, async () => {
        const jti = newJtiFor(ip, testNow());
        const sealed = await sealSession(keyring, { ...easy, jti }, null);
        return { challenge: sealed, solution: EASY_SOLUTION, environment: PERSONS_BROWSER };
      }),
    );
  };
  return {
    post,
    easyStock,
    price: async (ip = OFFICE) => (await post({}, ip)).pow.t!,
    openBurst: async (count: number, ip = OFFICE) => {
      for (const page of await easyStock(count, ip)) edgeSession.parse(await post(page, ip));
    },
  };
}

test('250 challenges that somebody at the address asks for and does not solve change no price', async () => {
  const { post, price } = await newShop();
  for (let asked = 0; asked < 250; asked++) await post({});
  expect(await price()).toBe(SESSION_PRICE);
});

test('a burst of sessions doubles the price of the address at 30, 60 and 120, and is forgotten soon', async () => {
  const { openBurst, price } = await newShop();
  const prices: number[] = [];
  for (const count of [31, 32, 64]) {
    await openBurst(count);
    prices.push(await price());
  }
  expect(prices).toEqual([2, 4, 8].map((times) => times * SESSION_PRICE));
  expect(await price('198.51.100.1')).toBe(SESSION_PRICE);
  later(3 * MINUTE_MS);
  expect(await price()).toBe(SESSION_PRICE);
});

describe('a person who works for one session while a neighbour opens sixty', () => {
  test('works for the difference, and has it then', async () => {
    const { post, openBurst, price } = await newShop();
    const asked = await post({});
    await openBurst(31);
    await openBurst(32);
    const rest = await post(await solvedSession(asked));
    expect(rest).toMatchObject({ challenge: expect.any(String), pow: { lane: 'rsw' } });
    const now = await price();
    const paid = asked.pow.t! + rest.pow.t!;
    expect(now).toBe(4 * SESSION_PRICE);
    expect([paid >= now, paid < 1.05 * now]).toEqual([true, true]);
    edgeSession.parse(await post(await solvedSession(rest)));
  });

  test('opens one session with that work, however often it is sent', async () => {
    const { post, openBurst, easyStock } = await newShop();
    const [kept] = await easyStock(1);
    await openBurst(31);
    await openBurst(32);
    const rests = [await post(kept!), await post(kept!)];
    const ids = await Promise.all(
      rests.map(async ({ challenge }) => (await openSealedSession(keyring, challenge, testNow()))!.challenge.jti),
    );
    expect(new Set(ids).size).toBe(1);
  });
});
