/**
 * `/siteverify` with the visitor that an edge describes: what is demanded of them now, whether the challenge was theirs,
 * and that a refusal spends nothing.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { openToken, sealToken, type SealedToken } from '../../src/captcha/seal/sealed-token.ts';
import type { SiteverifyResponse } from '../../src/contract/captcha/siteverify.ts';
import { accessRuleInput } from '../../src/contract/management/access-control-rule.ts';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import { checkedAccessControlRule } from '../../src/service/operations/access-control/check-rule.ts';
import { putAccessControlRule } from '../../src/store/d1/access-control-rules.ts';
import { createInstance } from '../../src/store/d1/instances.ts';
import { issueClientJwt } from '../../src/store/d1/client-jwts.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import {
  ask,
  edgeVisitor,
  env,
  freshAddress,
  keyring,
  makeAccount,
  makeSite,
  opened,
  post,
  tokenFor,
  type Answer,
} from './captcha-harness.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

const challengeDifficulty = [
  { minScore: 0.4, powDifficulty: 6 },
  { minScore: 0.7, captchaType: 'puzzle' as const, powDifficulty: 7 },
];
const CLEARANCE = { action: 'clearance' };

interface Gate {
  site: SiteRecord;
  bearer: Record<string, string | null>;
}

async function makeGate(settings: object = {}, policy: object = { challengeDifficulty }, accountId?: string) {
  const account = accountId ?? (await makeAccount('premium'));
  const site = await makeSite('premium', { powDifficulty: 1, ...settings }, account);
  const instance = await createInstance(
    env,
    {
      accountId: account,
      name: 'Gate',
      cname: `${crypto.randomUUID()}.example.com`,
      globalSiteKey: site.siteKey,
      policy: instanceSettings.parse(policy),
    },
    testNow(),
  );
  if (!instance.ok) throw new Error(instance.error);
  const { clientJwt } = await issueClientJwt(env, env.SERVICE_URL, instance.value.id, 1, testNow());
  return { site, bearer: { authorization: `Bearer ${clientJwt}`, origin: null } };
}

type Visitor = typeof edgeVisitor & { riskScore?: number };
const someone = (changes: Partial<Visitor> = {}): Visitor => ({ ...edgeVisitor, ip: freshAddress(), ...changes });

function present(gate: Gate, token: string, visitor: object, extra: object = {}): Promise<Answer<SiteverifyResponse>> {
  const body = { secret: gate.site.secretKey, token, audience: 'edge', visitor, ...extra };
  return post<SiteverifyResponse>('/siteverify', body, gate.bearer);
}
const bought = (gate: Gate, visitor: object, extra: Record<string, unknown> = CLEARANCE) =>
  tokenFor(gate.site, { ...extra, visitor }, gate.bearer);

/** The token of a challenge that the visitor asked for through the edge, as if it had been this one and was solved. */
async function solvedAs(from: Gate, visitor: object, changes: Partial<SealedToken>): Promise<string> {
  const challenge = await opened(await ask(from.site, { ...CLEARANCE, visitor }, from.bearer));
  const { issuedAt: _, expiresAt: __, round: ___, params: ____, ...course } = challenge;
  const times = { issuedAt: course.bornAt, solvedAt: testNow(), expiresAt: testNow() + 60_000 };
  return sealToken(keyring, { ...course, level: 2, ...times, ...changes });
}
async function addRule(accountId: string, field: string, value: string, restriction: object): Promise<void> {
  const conditions = [{ field, operator: 'equals', value }];
  const rule = accessRuleInput.parse({ type: 'restrict', conditions, ...restriction });
  await putAccessControlRule(env, accountId, await checkedAccessControlRule(rule, testNow()), testNow());
}

let gate: Gate;
beforeAll(async () => {
  gate = await makeGate();
});

describe('a visitor in the request', () => {
  test('is refused without a client JWT, with a foreign one, and for the site’s own audience', async () => {
    const visitor = someone();
    const token = await bought(gate, visitor);
    const question = { secret: gate.site.secretKey, token, audience: 'edge', visitor };
    expect((await post('/siteverify', question)).status).toBe(401);
    expect((await post('/siteverify', question, { authorization: 'Bearer e30.e30.e30' })).status).toBe(401);
    const stranger = await makeGate();
    expect((await post('/siteverify', question, stranger.bearer)).status).toBe(403);
    expect((await post('/siteverify', { ...question, audience: 'site' }, gate.bearer)).status).toBe(400);
    expect((await post('/siteverify', { ...question, audience: undefined }, gate.bearer)).status).toBe(400);
    expect((await post('/siteverify', { ...question, idempotencyKey: 'k' }, gate.bearer)).status).toBe(400);
    expect((await post('/siteverify', { ...question, visitor: { ip: 7 } }, gate.bearer)).status).toBe(400);
    const { visitor: _, ...alone } = question;
    expect((await post('/siteverify', { ...alone, sessionId: 's' }, gate.bearer)).status).toBe(400);
    // Nothing of this spent the token.
    expect((await present(gate, token, visitor)).body).toMatchObject({ verified: true });
  });

  test('gets what was solved with the verdict, for the edge to remember', async () => {
    const visitor = someone();
    const { body } = await present(gate, await bought(gate, visitor), visitor);
    expect(body).toMatchObject({ verified: true, kind: 'pow', powDifficulty: 5.5, level: 1, action: 'clearance' });
    expect(body).not.toHaveProperty('eased');
  });
});

describe('a clearance token', () => {
  test('that was asked for without an edge is refused', async () => {
    const visitor = someone();
    const token = await tokenFor(gate.site, CLEARANCE, { 'cf-connecting-ip': visitor.ip });
    expect((await present(gate, token, visitor)).body).toMatchObject({
      verified: false,
      reason: 'API.VISITOR_MISMATCH',
    });
  });

  test('is refused from elsewhere, and stays usable where it was asked for', () =>
    expectRows<[string, Partial<Visitor>]>(
      [
        ['another network', { ip: '198.51.100.1' }],
        ['another user agent', { userAgent: 'Mozilla/5.0' }],
        ['another host', { host: 'shop.example.com' }],
        ['no address', { ip: null as never }],
        ['the other address family and another provider', { ip: '2001:db8::1', asn: 64_497 }],
        ['the other address family and another country', { ip: '2001:db8::1', country: 'FR' }],
        ['the other address family and an unknown provider', { ip: '2001:db8::1', asn: null as never }],
        ['the other address family and another user agent', { ip: '2001:db8::1', userAgent: 'Mozilla/5.0' }],
        ['the other address family and another host', { ip: '2001:db8::1', host: 'shop.example.com' }],
      ],
      async ([, changes]) => {
        const visitor = someone();
        const token = await bought(gate, visitor);
        const elsewhere = await present(gate, token, { ...visitor, ...changes });
        expect(elsewhere.body).toMatchObject({ verified: false, reason: 'API.VISITOR_MISMATCH' });
        expect((await present(gate, token, visitor)).body.verified).toBe(true);
      },
    ));

  test('is accepted from the same network, and from a phone’s other address family, once', async () => {
    const visitor = someone({ ip: '203.0.113.7' });
    const tokens = [await bought(gate, visitor), await bought(gate, visitor)];
    expect((await present(gate, tokens[0]!, { ...visitor, ip: '203.0.113.200' })).body.verified).toBe(true);
    const sixth = { ...visitor, ip: '2001:db8:5::1' };
    expect((await present(gate, tokens[1]!, sixth)).body.verified).toBe(true);
    expect((await present(gate, tokens[1]!, visitor)).body.reason).toBe('API.USER_ALREADY_VERIFIED');
  });

  test('of another instance of the same account and site settings is refused', async () => {
    const account = await makeAccount('premium');
    const [one, other] = [await makeGate({}, {}, account), await makeGate({}, {}, account)];
    const visitor = someone();
    // The challenge is for the site of the other instance, but this instance asked for it.
    const token = await tokenFor(other.site, { ...CLEARANCE, visitor }, one.bearer);
    expect((await present(other, token, visitor)).body.reason).toBe('API.VISITOR_MISMATCH');
  });
});

describe('the demand of the moment', () => {
  test('refuses less work than the risk asks for, and a proof of work where it asks for a task', async () => {
    const visitor = someone();
    for (const riskScore of [0.4, 0.7, 1]) {
      const token = await bought(gate, visitor);
      const risky = { ...visitor, riskScore };
      expect((await present(gate, token, risky)).body).toMatchObject({ verified: false, reason: 'API.LEVEL_TOO_LOW' });
      expect((await present(gate, token, visitor)).body.verified, String(riskScore)).toBe(true);
    }
  });

  test('accepts what was asked for at the same risk', async () => {
    const visitor = someone({ riskScore: 0.4 });
    expect((await present(gate, await bought(gate, visitor), visitor)).body.verified).toBe(true);
    const risky = { ...visitor, riskScore: 0.7 };
    const task = await solvedAs(gate, risky, {});
    expect((await present(gate, task, risky)).body).toMatchObject({ verified: true, powDifficulty: 7, level: 2 });
  });

  test('holds for a form’s token too, wherever it came from', async () => {
    const direct = await tokenFor(gate.site, { action: 'login' });
    const refused = await present(gate, direct, someone({ riskScore: 0.7 }));
    expect(refused.body).toMatchObject({ verified: false, reason: 'API.LEVEL_TOO_LOW' });
    expect((await present(gate, direct, someone())).body.verified).toBe(true);
  });

  test('does not count what a burst added to the price', async () => {
    const visitor = someone();
    const token = await bought(gate, visitor);
    expect((await openToken(keyring, token, testNow()))?.powDifficulty).toBe(5.5);
    expect((await present(gate, token, visitor)).body.verified).toBe(true);
  });

  test('refuses a wait where waiting is not enough, and accepts it where it is', async () => {
    const lax = await makeGate({ minimumLevel: 0 });
    const visitor = someone();
    const waited = { lane: 'wait', level: 0 } as const;
    const token = await solvedAs(lax, visitor, waited);
    expect((await present(lax, token, { ...visitor, riskScore: 0.5 })).body.reason).toBe('API.LEVEL_TOO_LOW');
    expect((await present(lax, token, visitor)).body).toMatchObject({ verified: true, level: 0, powDifficulty: 0 });
    const strict = await solvedAs(gate, visitor, waited);
    expect((await present(gate, strict, visitor)).body.reason).toBe('API.LEVEL_TOO_LOW');
  });

  test('is the site’s own kind: a puzzle is not enough for an image, in no lane', async () => {
    const images = await makeGate({ captchaType: 'image' });
    const visitor = someone();
    for (const lane of ['visual', 'audio'] as const) {
      const easier = await solvedAs(images, visitor, { kind: 'puzzle', lane });
      expect((await present(images, easier, visitor)).body.reason).toBe('API.LEVEL_TOO_LOW');
      const image = await solvedAs(images, visitor, { kind: 'image', lane });
      expect((await present(images, image, visitor)).body.verified).toBe(true);
    }
    const work = await solvedAs(images, visitor, { kind: 'pow', lane: 'rsw', level: 1 });
    expect((await present(images, work, visitor)).body.reason).toBe('API.LEVEL_TOO_LOW');
  });

  test('is what an access rule eases it to, and the edge hears of it', async () => {
    const eased = await makeGate({ captchaType: 'image' });
    const visitor = someone({ ja4: 't13d1516h2_8daaf6152771_a278895b5b6a' as never });
    await addRule(eased.site.accountId, 'ja4Hash', String(visitor.ja4), { captchaType: 'pow', powDifficulty: 1 });
    const { body } = await present(eased, await bought(eased, visitor), visitor);
    expect(body).toMatchObject({ verified: true, kind: 'pow', eased: true });
    const risky = { ...visitor, riskScore: 0.7 };
    expect((await present(eased, await bought(eased, visitor), risky)).body.reason).toBe('API.LEVEL_TOO_LOW');
  });

  test('includes a rule for the session, although the challenge was asked for without it', async () => {
    const strict = await makeGate();
    await addRule(strict.site.accountId, 'userId', 'session-1', { captchaType: 'image' });
    const visitor = someone();
    const token = await bought(strict, visitor);
    const refused = await present(strict, token, visitor, { sessionId: 'session-1' });
    expect(refused.body.reason).toBe('API.LEVEL_TOO_LOW');
    expect((await present(strict, token, visitor, { sessionId: 'session-2' })).body.verified).toBe(true);
  });

  test('includes refusals that the risk of now brings', async () => {
    const banning = await makeGate({ autoBanScoreThreshold: 0.3 }, {});
    const visitor = someone();
    const token = await bought(banning, visitor);
    const refused = await present(banning, token, { ...visitor, riskScore: 0.3 });
    expect(refused.body.reason).toBe('API.BOT_SCORE_ABOVE_THRESHOLD');
    expect((await present(banning, token, visitor)).body.verified).toBe(true);
  });
});
