/** The challenge API on the real bindings: who gets a challenge, which one, and what a solution is worth. */
import { beforeAll, describe, expect, test } from 'vitest';
import { decodeBase64url } from '../../src/bytes/base64url.ts';
import { keyDay } from '../../src/captcha/seal/keyring.ts';
import { openToken } from '../../src/captcha/seal/sealed-token.ts';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import { createInstance } from '../../src/store/d1/instances.ts';
import { issueClientJwt } from '../../src/store/d1/client-jwts.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { later, testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';
import {
  ask,
  edgeVisitor as visitor,
  env,
  freshAddress,
  handIn,
  keyring,
  makeAccount,
  makeSite,
  opened,
  post,
  send,
  solvePow,
  tokenFor,
} from './captcha-harness.ts';

describe('a challenge', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium', { domains: ['example.com', '*.example.org'] });
  });

  test('is made for pages of the site and of this machine only', () =>
    expectRows(
      [
        ['https://example.com', 200],
        ['https://shop.example.com', 200],
        ['https://example.org', 200],
        ['https://a.b.example.org:8443', 200],
        ['http://localhost:3000', 200],
        ['https://example.com.evil.test', 400],
        ['https://notexample.com', 400],
        ['null', 400],
        [null, 400],
      ],
      async ([origin, status]) => {
        expect((await post('/captcha/v1/challenge', { siteKey: site.siteKey }, { origin })).status).toBe(status);
      },
    ));

  test('uses the host that the page sends only without an Origin header, and raises the score for it', async () => {
    const answer = await ask(site, { currentUrl: 'https://example.com/form' }, { origin: null });
    expect((await opened(answer)).facts.detectors).toContain('unverified-host');
    const lie = await post(
      '/captcha/v1/challenge',
      { siteKey: site.siteKey, currentUrl: 'https://example.com/' },
      { origin: 'https://evil.test' },
    );
    expect(lie.body.error.key).toBe('API.UNAUTHORIZED_ORIGIN_URL');
  });

  test('is refused to a request with a mistake', () =>
    expectRows(
      [
        [{ siteKey: 'nobody' }, 400, 'API.SITE_KEY_NOT_REGISTERED'],
        [{}, 400, 'API.INVALID_BODY'],
        [{ siteKey: 'x', difficulty: 1 }, 400, 'API.INVALID_BODY'],
        [{ siteKey: 'x', action: 'no spaces' }, 400, 'API.INVALID_BODY'],
        ['{', 400, 'API.PARSE_ERROR'],
      ],
      async ([body, status, key]) => {
        expect(await post('/captcha/v1/challenge', body)).toMatchObject({ status, body: { error: { key } } });
      },
    ));

  test('is refused where the visitor’s address is unknown', async () => {
    expect((await post('/captcha/v1/challenge', { siteKey: site.siteKey }, { 'cf-connecting-ip': null })).status).toBe(
      403,
    );
    const challenge = await ask(site);
    const solution = await solvePow(challenge);
    expect((await handIn(challenge.challenge, solution, { 'cf-connecting-ip': null })).status).toBe(403);
    expect((await handIn(challenge.challenge, solution)).body.verified).toBe(true);
  });

  test('can be requested and solved from any origin', async () => {
    for (const path of ['/captcha/v1/challenge', '/captcha/v1/solution']) {
      const preflight = await send(
        new Request(`https://gatehouse.test${path}`, { method: 'OPTIONS', headers: { origin: 'https://example.com' } }),
      );
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type');
      expect((await post(path, '{')).headers.get('access-control-allow-origin')).toBe('*');
    }
  });

  test('is limited per site and network', async () => {
    const from = { 'cf-connecting-ip': freshAddress() };
    const lax = await makeSite('premium', { minimumLevel: 0 });
    const body = { siteKey: lax.siteKey, capabilities: { script: false } };
    const answers = await Promise.all(Array.from({ length: 340 }, () => post('/captcha/v1/challenge', body, from)));
    const refused = answers.filter((answer) => answer.status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(20);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post('/captcha/v1/challenge', body)).status).toBe(200);
    const neighbour = { 'cf-connecting-ip': from['cf-connecting-ip'].replace(/7$/, '8') };
    expect((await post('/captcha/v1/challenge', body, neighbour)).status).toBe(200);
  });

  test('that is solved is worth a token, however many wrong solutions its network and its address sent', async () => {
    const from = { 'cf-connecting-ip': freshAddress() };
    const challenge = await ask(site, {}, from);
    const wrong = { challenge: challenge.challenge, solution: { y: 'A'.repeat(342) } };
    const answers = await Promise.all(Array.from({ length: 340 }, () => post('/captcha/v1/solution', wrong, from)));
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
    const right = { challenge: challenge.challenge, solution: await solvePow(challenge) };
    expect((await post('/captcha/v1/solution', right, from)).body).toMatchObject({ verified: true });
    expect((await post('/captcha/v1/solution', right, from)).status).toBe(429);
  });

  test('is limited per network before any site is looked up, so that made-up keys cost no query', async () => {
    const from = { 'cf-connecting-ip': freshAddress() };
    const answers = await Promise.all(
      Array.from({ length: 640 }, (_, at) => post('/captcha/v1/challenge', { siteKey: `site_nobody-${at}` }, from)),
    );
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(620);
    expect(statuses.filter((status) => status === 429)).toHaveLength(20);
  });
});

/** Headers of an edge whose instance belongs to the account. */
async function edgeOf(accountId: string, site: SiteRecord): Promise<Record<string, string>> {
  const instance = await createInstance(
    env,
    {
      accountId,
      name: 'edge',
      cname: `${site.siteKey}.example.com`.toLowerCase(),
      globalSiteKey: site.siteKey,
      policy: instanceSettings.parse({}),
    },
    testNow(),
  );
  if (!instance.ok) throw new Error(instance.error);
  const issued = await issueClientJwt(env, env.SERVICE_URL, instance.value.id, 1, testNow());
  return { authorization: `Bearer ${issued.clientJwt}` };
}

describe('an edge', () => {
  test('can describe its visitor with a client JWT, and not without one', async () => {
    const accountId = await makeAccount('free');
    const site = await makeSite('free', {}, accountId);
    expect((await post('/captcha/v1/challenge', { siteKey: site.siteKey, visitor })).status).toBe(401);
    const forged = await post(
      '/captcha/v1/challenge',
      { siteKey: site.siteKey, visitor },
      { authorization: 'Bearer x.y.z' },
    );
    expect(forged.status).toBe(401);
    const challenge = await ask(site, { visitor }, { ...(await edgeOf(accountId, site)), origin: null });
    expect((await opened(challenge)).facts).toMatchObject({ country: 'DE', asn: 64_496, detectors: [] });
    const risky = await ask(
      site,
      { visitor: { ...visitor, riskScore: 0.7 } },
      { ...(await edgeOf(accountId, await makeSite('free', {}, accountId))), origin: null },
    );
    expect((await opened(risky)).facts).toMatchObject({ score: 0.7, detectors: ['session-risk'] });
  });

  test('cannot describe visitors of another account’s site', async () => {
    const accountId = await makeAccount('free');
    const jwt = await edgeOf(accountId, await makeSite('free', {}, accountId));
    const foreign = await makeSite('free');
    expect((await post('/captcha/v1/challenge', { siteKey: foreign.siteKey, visitor }, jwt)).status).toBe(403);
  });
});

describe('a proof of work', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium');
  });

  test('carries one jti from challenge to token, and no score that a page could read', async () => {
    const challenge = await ask(site);
    const solved = await handIn(challenge.challenge, await solvePow(challenge));
    const token = await openToken(keyring, solved.body.token ?? '', testNow());
    expect(token?.jti).toBe(challenge.jti);
    const raw = new TextDecoder('latin1').decode(decodeBase64url(solved.body.token ?? '') ?? new Uint8Array());
    expect(raw).not.toContain('score');
    expect(raw).not.toContain(site.siteKey);
  });

  test('is refused for anything but its answer', () =>
    expectRows<[string, Record<string, unknown>]>(
      [
        ['nothing', {}],
        ['an empty y', { y: '' }],
        ['y = 0', { y: 'A'.repeat(342) }],
        ['y = 1', { y: `${'A'.repeat(340)}AQ` }],
        ['a short y', { y: 'AQ' }],
        ['no base64url', { y: '*'.repeat(342) }],
        ['a number', { y: 1 }],
        ['counters of another lane', { counters: 'AAAA' }],
        ['a very long y', { y: 'A'.repeat(20_000) }],
      ],
      async ([, solution]) => {
        const challenge = await ask(site);
        expect(await handIn(challenge.challenge, solution)).toMatchObject({
          status: 200,
          body: { verified: false, reason: 'CAPTCHA.INVALID_SOLUTION' },
        });
      },
    ));

  test('is refused for the result of fewer squarings, and of another challenge', async () => {
    const [a, b] = [await ask(site), await ask(site)];
    const lower = await solvePow({ ...a, pow: { ...a.pow!, t: a.pow!.t! - 1 } });
    expect((await handIn(a.challenge, lower)).body.verified).toBe(false);
    expect((await handIn(a.challenge, await solvePow(b))).body.verified).toBe(false);
  });

  test('is refused after the site’s solutionTimeout, by the service’s clock', async () => {
    const hasty = await makeSite('free', { solutionTimeout: 1000 });
    const challenge = await ask(hasty);
    const solution = await solvePow(challenge);
    later(1100);
    expect((await handIn(challenge.challenge, solution)).body).toEqual({
      verified: false,
      reason: 'API.TIMESTAMP_TOO_OLD',
    });
  });

  test('is refused when the challenge is changed, or is a token', async () => {
    const token = await tokenFor(site);
    for (const challenge of [token, 'AAAA', `${(await ask(site)).challenge}A`]) {
      expect((await handIn(challenge, {})).status).toBe(400);
    }
  });

  test('costs a native solver no less in the SHA-256 lane, which browsers without BigInt get', async () => {
    const challenge = await ask(site, { capabilities: { bigint: false, worker: false } });
    expect(challenge.pow?.lane).toBe('sha256');
    const { count = 0, bits = 0 } = challenge.pow ?? {};
    expect(count * 2 ** bits).toBeGreaterThan(18_750 * 50);
    expect((await handIn(challenge.challenge, await solvePow(challenge))).body.verified).toBe(true);
    expect(
      (await handIn(challenge.challenge, { counters: 'A'.repeat(Math.ceil((count * 16) / 3)) })).body.verified,
    ).toBe(false);
  });

  test('raises the score of a solution that comes from another network', async () => {
    const challenge = await ask(site);
    const solved = await handIn(challenge.challenge, await solvePow(challenge));
    const token = await openToken(keyring, solved.body.token ?? '', testNow());
    expect(token?.facts).toMatchObject({ score: 0.2, detectors: ['address-change'] });
  });
});

describe('waiting', () => {
  test('is offered without scripts, has level 0, and cannot end early', async () => {
    const site = await makeSite('premium', { minimumLevel: 0 });
    const challenge = await ask(site, { capabilities: { script: false } });
    expect(challenge.pow).toMatchObject({ lane: 'wait', waitMs: 8000 });
    expect((await handIn(challenge.challenge, {})).body.verified).toBe(false);
    expect(challenge.expiresAt - (challenge.pow?.notBefore ?? 0)).toBe(site.settings.solutionTimeout);
  });

  test('is refused by a site that lets no level 0 count, which is the default', async () => {
    const site = await makeSite('premium');
    const answer = await post('/captcha/v1/challenge', { siteKey: site.siteKey, capabilities: { script: false } });
    expect(answer).toMatchObject({ status: 400, body: { error: { key: 'API.INCORRECT_CAPTCHA_TYPE' } } });
  });

  test('does not replace a picture', async () => {
    const site = await makeSite('premium', { captchaType: 'image', minimumLevel: 0 });
    const answer = await post('/captcha/v1/challenge', { siteKey: site.siteKey, capabilities: { script: false } });
    expect(answer.body.error.key).toBe('API.INCORRECT_CAPTCHA_TYPE');
  });

  test('admits ten visitors of a network, however many wait', async () => {
    const { waitAllowed } = await import('../../src/service/captcha/wait-budget.ts');
    const networks = [{ tag: 'own', times: 1 }];
    const results = await Promise.all(Array.from({ length: 1000 }, () => waitAllowed(env, 'site', networks)));
    expect(results.filter(Boolean)).toHaveLength(10);
  });

  test('admits 30 visitors of a /48, however many of its networks wait', async () => {
    const { waitAllowed } = await import('../../src/service/captcha/wait-budget.ts');
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        waitAllowed(env, 'hopped', [
          { tag: `/64 ${index}`, times: 1 },
          { tag: `/56 ${index >> 4}`, times: 3 },
          { tag: '/48', times: 10 },
        ]),
      ),
    );
    expect(results.filter(Boolean)).toHaveLength(30);
  });

  test('admits 300 visitors of a site, and then one more of each large network', async () => {
    const { waitAllowed } = await import('../../src/service/captcha/wait-budget.ts');
    const waits = (from: number, to: number, network: (index: number) => string): Promise<number> =>
      Promise.all(
        Array.from({ length: to - from }, (_, index) =>
          waitAllowed(env, 'popular', [
            { tag: `own ${from + index}`, times: 1 },
            { tag: network(from + index), times: 10 },
          ]),
        ),
      ).then((results) => results.filter(Boolean).length);
    expect(await waits(0, 400, (index) => `flooding ${Math.floor(index / 30)}`)).toBe(300 + 4);
    expect(await waits(400, 410, (index) => `calm ${index}`)).toBe(10);
    expect(await waits(410, 420, () => 'calm 400')).toBe(0);
    expect(await waits(420, 1000, (index) => `botnet ${index}`)).toBe(286);
  });
});

describe('a honeypot', () => {
  test('asks its question in code, and refuses the visitors it catches at verification only', async () => {
    const site = await makeSite('premium', { honeypot: { enabled: true, question: 'sos' } });
    const challenge = await ask(site);
    expect(challenge.honeypot).toEqual({ name: 'email_confirm', question: '... --- ...' });
    const solved = await handIn(challenge.challenge, await solvePow(challenge), {}, { honeypot: 'me@example.com' });
    expect(solved.body.verified).toBe(true);
    const answer = await post('/siteverify', { secret: site.secretKey, token: solved.body.token });
    expect(answer.body).toMatchObject({ verified: false, reason: 'API.USER_NOT_VERIFIED', score: 1 });
  });
});

test('a challenge is sealed with the key of its own day', async () => {
  const site = await makeSite('free');
  const bytes = decodeBase64url((await ask(site)).challenge) ?? new Uint8Array(6);
  expect(new DataView(bytes.buffer).getUint32(2)).toBe(keyDay(testNow()));
});
