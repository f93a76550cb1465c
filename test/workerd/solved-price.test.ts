/** What the challenges of an address cost after others there asked for hundreds, or solved a burst of them. */
import { describe, expect, test } from 'vitest';
import { solveRsw } from '../../src/captcha/pow/pow-solve.ts';
import type { ChallengeResponse } from '../../src/contract/captcha/challenge-api.ts';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import { issueClientJwt } from '../../src/store/d1/client-jwts.ts';
import { createInstance } from '../../src/store/d1/instances.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { later, testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';
import {
  ask,
  easyChallenges,
  EASY_SOLUTION,
  edgeVisitor,
  env,
  freshAddress,
  handIn,
  makeAccount,
  makeSite,
  post,
  solveBurst,
} from './captcha-harness.ts';

const MINUTE_MS = 60_000;
/** Squarings of a captcha at a `powDifficulty` of 1, and of a clearance at the least price. */
const CAPTCHA_PRICE = 18_750;
const CLEARANCE_PRICE = 150_000;

/** As many as there are in a minute below the limits of a network. */
const ASKED_PER_MINUTE = 250;

async function solutionOf({ pow }: ChallengeResponse): Promise<Record<string, unknown>> {
  return { y: await solveRsw({ n: pow!.n!, x: pow!.x!, t: pow!.t! }, undefined, undefined, null) };
}

function visitorsAt(site: SiteRecord, ip: string) {
  const from = { 'cf-connecting-ip': ip };
  const askFor = (extra = {}) => ask(site, extra, from);
  const submit = async (challenge: ChallengeResponse) =>
    (await handIn(challenge.challenge, await solutionOf(challenge), from)).body;
  return {
    askFor,
    submit,
    price: async (extra = {}) => (await askFor(extra)).pow!.t!,
    easyStock: (count: number, extra = {}) => easyChallenges(site, count, extra, from),
    submitEasy: async (sealed: string) => (await handIn(sealed, EASY_SOLUTION, from)).body,
    solveBurst: (count: number, extra = {}) => solveBurst(site, count, extra, from),
  };
}

describe('1,000 challenges that somebody at the address asks for and does not solve', () => {
  test('change the price of no captcha and of no clearance there', () =>
    expectRows(
      [
        [{}, CAPTCHA_PRICE],
        [{ action: 'clearance' }, CLEARANCE_PRICE],
      ],
      async ([asked, price]) => {
        const office = visitorsAt(await makeSite('premium'), freshAddress());
        for (let minute = 0; minute < 4; minute++) {
          for (let count = 0; count < ASKED_PER_MINUTE; count++) await office.askFor(asked);
          later(MINUTE_MS);
        }
        expect(await office.price(asked)).toBe(price);
      },
    ));
});

describe('a burst that somebody at the address solves', () => {
  test('makes the captchas of the address dearer until it is over', async () => {
    const office = visitorsAt(await makeSite('premium'), freshAddress());
    await office.solveBurst(29);
    expect(await office.price()).toBe(CAPTCHA_PRICE);
    await office.solveBurst(1);
    expect((await office.price()) / CAPTCHA_PRICE).toBeCloseTo(2 ** (1 / 3), 3);
    later(MINUTE_MS);
    expect(await office.price()).toBe(CAPTCHA_PRICE);
  });

  test('makes its clearances twice as dear after 20 and four times after 40, and no others of its network', async () => {
    const site = await makeSite('premium');
    const asked = { action: 'clearance' };
    const ip = freshAddress();
    const office = visitorsAt(site, ip);
    const prices: number[] = [];
    for (const count of [19, 1, 20]) {
      await office.solveBurst(count, asked);
      prices.push(await office.price(asked));
    }
    expect(prices).toEqual([1, 2, 4].map((times) => times * CLEARANCE_PRICE));
    const neighbour = visitorsAt(site, ip.replace(/7$/, '8'));
    expect((await neighbour.price(asked)) / CLEARANCE_PRICE).toBeCloseTo(2 ** (1 / 3), 3);
    later(15 * MINUTE_MS);
    expect(await office.price(asked)).toBe(CLEARANCE_PRICE);
  });

  test('does not concern another site, or who has a session there', async () => {
    const accountId = await makeAccount('premium');
    const site = await makeSite('premium', {}, accountId);
    const instance = await createInstance(
      env,
      {
        accountId,
        name: 'shop',
        cname: `a${crypto.randomUUID().slice(0, 8)}.example.com`,
        globalSiteKey: site.siteKey,
        policy: instanceSettings.parse({}),
      },
      testNow(),
    );
    if (!instance.ok) throw new Error(instance.error);
    const { clientJwt } = await issueClientJwt(env, env.SERVICE_URL, instance.value.id, 1, testNow());
    const visitor = { ...edgeVisitor, ip: freshAddress() };
    const office = visitorsAt(site, visitor.ip);
    await office.solveBurst(30);
    const edge = { authorization: `Bearer ${clientJwt}` };
    const priceOf = async (sent: object) => (await ask(site, { visitor, ...sent }, edge)).pow!.t!;
    expect(await priceOf({})).toBeGreaterThan(CAPTCHA_PRICE);
    expect(await priceOf({ sessionId: 'session' })).toBe(CAPTCHA_PRICE);
    // A page that names a session itself has none.
    expect(await office.price({ sessionId: 'session' })).toBeGreaterThan(CAPTCHA_PRICE);
    expect(await visitorsAt(await makeSite('premium'), visitor.ip).price()).toBe(CAPTCHA_PRICE);
  });

  test('costs a person who solves one challenge meanwhile the difference, and no failure', async () => {
    // The difference is more than the least work that there is.
    const office = visitorsAt(await makeSite('premium', { powDifficulty: 2.5 }), freshAddress());
    const person = await office.askFor();
    await office.solveBurst(60);
    const rest = await office.submit(person);
    expect(rest).toMatchObject({
      verified: false,
      reason: 'CAPTCHA.PRICE_RISEN',
      next: { jti: person.jti, kind: 'pow' },
    });
    const price = await office.price();
    expect(person.pow!.t! + rest.next!.pow!.t!).toBeLessThan(1.25 * price);
    expect(await office.submit(rest.next!)).toMatchObject({ verified: true });
  });
});

describe('a stock of challenges that was asked for at the low price', () => {
  test('is worth sixty of them, and each further one costs the price of then', async () => {
    const office = visitorsAt(await makeSite('premium'), freshAddress());
    const kept = await office.askFor();
    const stock = await office.easyStock(70);
    const answers = [];
    for (const sealed of stock) answers.push(await office.submitEasy(sealed));
    expect(answers.map(({ verified }) => verified)).toEqual(stock.map((_, index) => index < 60));
    const { next } = await office.submit(kept);
    expect(kept.pow!.t! + next!.pow!.t!).toBeGreaterThanOrEqual(await office.price());
  });

  test('earns one token for one solution, however often it is sent', async () => {
    const site = await makeSite('premium');
    const office = visitorsAt(site, freshAddress());
    const kept = await office.askFor();
    await office.solveBurst(60);
    const tokens: string[] = [];
    for (let sent = 0; sent < 5; sent++) {
      const { next } = await office.submit(kept);
      const { token } = await office.submit(next!);
      tokens.push(token!);
    }
    const verified = await Promise.all(
      tokens.map((token) => post<{ verified: boolean }>('/siteverify', { secret: site.secretKey, token })),
    );
    expect(verified.filter(({ body }) => body.verified)).toHaveLength(1);
  });

  test('does not keep the work beside a picture cheap', async () => {
    const site = await makeSite('premium', { captchaType: 'image' });
    const office = visitorsAt(site, freshAddress());
    const kept = await office.askFor();
    await office.solveBurst(60);
    const rest = await office.submit(kept);
    expect(rest).toMatchObject({ reason: 'CAPTCHA.PRICE_RISEN', next: { kind: 'image' } });
    expect(rest.next).not.toHaveProperty('image');
    const picture = (await office.submit(rest.next!)).next!;
    expect(picture).toMatchObject({ image: {} });
    const fresh = (await office.submit(await office.askFor())).next!;
    expect(picture.pow!.t).toBe(fresh.pow!.t);
  });
});
