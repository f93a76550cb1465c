/** Access control rules where they act, at the challenge and at verification, soon after a change. */
import { SignJWT } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { accessRuleInput } from '../../src/contract/management/access-control-rule.ts';
import { checkedAccessControlRule } from '../../src/service/operations/access-control/check-rule.ts';
import { putAccessControlRule } from '../../src/store/d1/access-control-rules.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { later, testNow } from '../support/clock.ts';
import {
  ask,
  askForPicture,
  env,
  freshAddress,
  handIn,
  makeAccount,
  makeSite,
  post,
  solveBurst,
  solvePow,
  tokenFor,
} from './captcha-harness.ts';

async function addRule(accountId: string, rule: Record<string, unknown>): Promise<void> {
  const now = testNow();
  await putAccessControlRule(env, accountId, await checkedAccessControlRule(accessRuleInput.parse(rule), now), now);
}
const equals = (field: string, value: string): Record<string, string> => ({ field, operator: 'equals', value });
/** Longer than an isolate uses the rules that it has read. */
const RULES_STALE_MS = 1100;

describe('an access control rule', () => {
  let accountId: string;
  let site: SiteRecord;
  beforeEach(async () => {
    accountId = await makeAccount('premium');
    site = await makeSite('premium', {}, accountId);
  });

  test('blocks a challenge outright, also for an isolate that knew the rules before', async () => {
    const from = { 'cf-connecting-ip': freshAddress() };
    await ask(site, {}, from);
    await addRule(accountId, { type: 'block', conditions: [equals('ip', from['cf-connecting-ip'])] });
    later(RULES_STALE_MS);
    const refused = await post('/captcha/v1/challenge', { siteKey: site.siteKey }, from);
    expect(refused).toMatchObject({ status: 403, body: { error: { key: 'API.ACCESS_POLICY_BLOCK' } } });
    await ask(site);
  });

  test('serves another task to visitors it restricts, and refuses the token of visitors it defers', async () => {
    const [harder, deferred] = [freshAddress(), freshAddress()];
    await addRule(accountId, {
      type: 'restrict',
      conditions: [equals('ip', harder)],
      captchaType: 'image',
      solvedImagesCount: 3,
    });
    await addRule(accountId, { type: 'restrict', conditions: [equals('ip', deferred)], deferToVerify: true });
    later(RULES_STALE_MS);
    expect(await askForPicture(site, {}, { 'cf-connecting-ip': harder })).toMatchObject({
      kind: 'image',
      image: { rounds: 3 },
    });
    const token = await tokenFor(site, {}, { 'cf-connecting-ip': deferred });
    const answer = await post('/siteverify', { secret: site.secretKey, token });
    expect(answer.body).toMatchObject({ verified: false, reason: 'API.ACCESS_POLICY_BLOCK' });
  });

  test('refuses at verification the address that the backend sends', async () => {
    await addRule(accountId, { type: 'block', conditions: [equals('ipMask', '203.0.113.0/24')] });
    const token = await tokenFor(site);
    later(RULES_STALE_MS);
    const refused = await post('/siteverify', { secret: site.secretKey, token, ip: '203.0.113.9' });
    expect(refused.body).toMatchObject({ verified: false, reason: 'API.ACCESS_POLICY_BLOCK' });
    expect((await post('/siteverify', { secret: site.secretKey, token, ip: '203.0.112.9' })).body).toMatchObject({
      verified: true,
    });
  });

  test('adds to the score of the visitors it matches', async () => {
    const from = { 'cf-connecting-ip': freshAddress() };
    await addRule(accountId, {
      type: 'restrict',
      conditions: [equals('ip', from['cf-connecting-ip'])],
      frictionlessScore: 0.4,
    });
    later(RULES_STALE_MS);
    const challenge = await ask(site, {}, from);
    // A solution within no time would add to the score too.
    later(1000);
    const solved = await handIn(challenge.challenge, await solvePow(challenge), from);
    const answer = await post('/siteverify', { secret: site.secretKey, token: solved.body.token });
    expect(answer.body).toMatchObject({ verified: true, score: 0.4 });
  });
});

describe('a rule for an account', () => {
  const ACCOUNT = 'customer-7';
  let accountId: string;
  let site: SiteRecord;
  beforeEach(async () => {
    accountId = await makeAccount('premium');
    site = await makeSite('premium', {}, accountId);
  });
  const rule = async (restriction: object): Promise<void> => {
    await addRule(accountId, { conditions: [equals('userId', ACCOUNT)], ...restriction });
    later(RULES_STALE_MS);
  };
  const signed = (secret: string, sub: string, expiresAtSeconds?: number): Promise<string> => {
    const token = new SignJWT({ sub }).setProtectedHeader({ alg: 'HS256' });
    if (expiresAtSeconds !== undefined) token.setExpirationTime(expiresAtSeconds);
    return token.sign(new TextEncoder().encode(secret));
  };
  const verified = async (extra: object, token?: string): Promise<unknown> =>
    (await post('/siteverify', { secret: site.secretKey, token: token ?? (await tokenFor(site)), ...extra })).body;

  test('acts at the challenge on the account that the site has signed', async () => {
    await rule({ type: 'restrict', captchaType: 'image' });
    expect(await ask(site, { userToken: await signed(site.secretKey, ACCOUNT) })).toMatchObject({ kind: 'image' });
    expect(await ask(site, { userToken: await signed(site.secretKey, 'customer-8') })).toMatchObject({ kind: 'pow' });
  });

  test('does not act on what a visitor claims by themselves', async () => {
    await rule({ type: 'restrict', captchaType: 'image' });
    const other = await makeSite('premium', {}, accountId);
    const unsigned = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ sub: ACCOUNT }))}.`.replaceAll('=', '');
    for (const claim of [
      { sessionId: ACCOUNT },
      { userToken: ACCOUNT },
      { userToken: unsigned },
      { userToken: await signed(other.secretKey, ACCOUNT) },
      { userToken: await signed(site.secretKey, ACCOUNT, Math.floor(testNow() / 1000) - 60) },
      { userToken: await signed(site.secretKey, 'x'.repeat(257)) },
    ]) {
      expect([claim, await ask(site, claim)]).toMatchObject([claim, { kind: 'pow' }]);
    }
  });

  test('acts at verification on the account that the backend names, whatever the page said', async () => {
    const easy = await tokenFor(site);
    await rule({ type: 'restrict', captchaType: 'image' });
    expect(await verified({ userAccount: ACCOUNT }, easy)).toMatchObject({
      verified: false,
      reason: 'API.LEVEL_TOO_LOW',
    });
    const borrowed = await tokenFor(site, { userToken: await signed(site.secretKey, 'customer-8') });
    expect(await verified({ userAccount: ACCOUNT }, borrowed)).toMatchObject({ reason: 'API.LEVEL_TOO_LOW' });
    // A refusal spends nothing.
    expect(await verified({ userAccount: 'customer-8' }, easy)).toMatchObject({ verified: true });
    expect(await verified({ userAccount: '' })).toMatchObject({ verified: true });
    expect(await verified({ userAccount: null })).toMatchObject({ verified: true });
  });

  test.each([[{ type: 'block' }], [{ type: 'restrict', deferToVerify: true }]])(
    '%j refuses the account at verification',
    async (restriction) => {
      const token = await tokenFor(site);
      await rule(restriction);
      expect(await verified({ userAccount: ACCOUNT }, token)).toMatchObject({ reason: 'API.ACCESS_POLICY_BLOCK' });
      expect(await verified({}, token)).toMatchObject({ verified: true });
    },
  );
});

test('a solved burst raises the difficulty for its own network only, and not where a rule sets the difficulty', async () => {
  const accountId = await makeAccount('premium');
  const site = await makeSite('premium', {}, accountId);
  const [burst, ruled] = [freshAddress(), freshAddress()];
  await addRule(accountId, { type: 'restrict', conditions: [equals('ip', ruled)], powDifficulty: 1 });
  later(RULES_STALE_MS);
  const price = async (from: string): Promise<number | undefined> =>
    (await ask(site, {}, { 'cf-connecting-ip': from })).pow?.t;
  const before = (await price(burst)) ?? 0;
  for (const from of [burst, ruled]) await solveBurst(site, 35, {}, { 'cf-connecting-ip': from });
  expect(((await price(burst)) ?? 0) / before).toBeCloseTo(2 ** (1 / 3), 3);
  expect(await price(ruled)).toBe(before);
  expect(await price(freshAddress())).toBe(before);
});
