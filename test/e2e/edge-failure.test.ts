/** The failure contract of docs/failure-modes.md, row by row, on workerd itself with a service that fails on demand. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { solveSha256 } from '../../src/captcha/pow/pow-solve.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { assetHashes } from '../../src/widget/bundle.generated.ts';
import { browse, FIREFOX } from '../support/browse.ts';
import { eventually } from '../support/stack.ts';
import { cookiesOf } from './edge-visitor.ts';
import {
  BLOCKED,
  CHALLENGED,
  ask,
  origin,
  postJson,
  startEdge,
  upstream,
  useFailingNeighbours,
} from './edge-under-test.ts';

useFailingNeighbours();

/** How often the edge asked the service for changes. */
const polls = () => upstream.calls.filter((path) => path === '/edge/v1/version').length;

describe('the service', () => {
  test.each(['error', 'garbage', 'silent', 'refused'] as const)(
    '%s: the last ruleset stays in force',
    async (trouble) => {
      const url = await startEdge();
      upstream.trouble = trouble;
      const before = polls();
      await eventually(
        async () => {
          expect((await ask(url, { headers: BLOCKED })).status).toBe(403);
          expect((await ask(url)).status).toBe(200);
          return polls() - before;
        },
        (failed) => failed >= 4,
      );
    },
  );

  test('silent: a visitor gets a response while the service still owes the edge its own', async () => {
    const url = await startEdge();
    upstream.trouble = 'silent';
    await eventually(
      async () => {
        expect((await ask(url)).status).toBe(200);
        return upstream.open.map(({ path }) => path);
      },
      (open) => open.includes('/edge/v1/version'),
    );
  });

  test('a refused client JWT degrades the health status, and only the operator sees why', async () => {
    const url = await startEdge();
    upstream.trouble = 'refused';
    const health = async (headers: Record<string, string> = {}) =>
      (await (await fetch(`${url}/__protect/health`, { headers })).json()) as { status: string; warnings?: string[] };
    await eventually(
      async () => {
        await ask(url);
        return health();
      },
      ({ status: state }) => state === 'degraded',
    );
    expect(Object.keys(await health())).toEqual(['status']);
    const told = await health({ authorization: 'Bearer a-token-of-the-operators' });
    expect(told.warnings?.join()).toContain('REFUSES THE CLIENT JWT');
    expect(JSON.stringify(told)).not.toContain(upstream.clientJwt);
  });

  test.each(['corrupt-ruleset', 'wrong-key'] as const)(
    '%s: the previous ruleset stays in force, and the refused file is counted',
    async (trouble) => {
      const url = await startEdge();
      upstream.trouble = trouble;
      await upstream.setRules([{ type: 'userAgent', value: 'somebody-else', verdict: 'block' }]);
      upstream.calls.length = 0;
      // The second download shows that the edge has refused the first.
      await eventually(
        async () => {
          expect((await ask(url, { headers: BLOCKED })).status).toBe(403);
          return upstream.calls.filter((path) => path.startsWith('/edge/v1/rulesets/')).length;
        },
        (downloads) => downloads >= 2,
      );
      expect((await ask(url, { headers: BLOCKED })).status).toBe(403);
      upstream.trouble = 'none';
      await eventually(
        async () => (await ask(url, { headers: BLOCKED })).status,
        (code) => code === 200,
      );
      await eventually(
        async () => {
          await ask(url);
          return upstream.counters['rulesets_refused{from="service"}'] ?? 0;
        },
        (count) => count > 0,
      );
    },
  );
});

test('rules that the edge cannot renew while the service answers are a warning of the health endpoint', async () => {
  const url = await startEdge();
  const warnings = async () => {
    const headers = { authorization: 'Bearer a-token-of-the-operators' };
    const answer = await fetch(`${url}/__protect/health`, { headers });
    return ((await answer.json()) as { warnings: string[] }).warnings.join();
  };
  const isCurrent = (told: string) => !told.includes('RULES_MAX_STALE_SECONDS');
  await eventually(warnings, isCurrent);
  upstream.trouble = 'corrupt-ruleset';
  await upstream.setRules([{ type: 'userAgent', value: 'somebody-else', verdict: 'block' }]);
  const told = await eventually(warnings, (text) => !isCurrent(text));
  expect(told).toContain('the newest ones cannot be loaded');
  expect(told).not.toContain('The service does not answer');
  upstream.trouble = 'none';
  await eventually(warnings, isCurrent);
});

test('visitors who leave in the middle of an upload are no failure of the origin', async () => {
  const url = await startEdge();
  const { hostname, port, host } = new URL(url);
  await eventually(
    async () => {
      const socket = connect(Number(port), hostname);
      const length = 100_000;
      socket.write(`POST /upload HTTP/1.1\r\nhost: ${host}\r\nuser-agent: x\r\ncontent-length: ${length}\r\n\r\nhalf`);
      const before = origin.hits.length;
      await eventually(
        () => Promise.resolve(origin.hits.length),
        (hits) => hits > before,
      );
      socket.destroy();
      return upstream.counters['uploads_broken'] ?? 0;
    },
    (count) => count >= 3,
  );
  expect(await (await fetch(`${url}/__protect/health`)).json()).toEqual({ status: 'ok' });
  expect(upstream.counters['origin_failures'] ?? 0).toBe(0);
});

test('an origin that does not respond degrades the health status, which says what is wrong', async () => {
  // No program listens on this port.
  const url = await startEdge({ ORIGIN_URL: 'http://127.0.0.1:1' });
  const headers = { authorization: 'Bearer a-token-of-the-operators' };
  const health = async () => {
    const answer = await fetch(`${url}/__protect/health`, { headers });
    return (await answer.json()) as { status: string; warnings: string[] };
  };
  expect(await health()).toMatchObject({
    status: 'ok',
    warnings: expect.not.arrayContaining([expect.stringMatching(/origin/)]),
  });
  const told = await eventually(
    async () => {
      expect((await ask(url)).status).toBe(502);
      return health();
    },
    ({ status }) => status === 'degraded',
  );
  expect(told.warnings.join()).toMatch(
    /The last \d requests reached no origin, or this gate again: check ORIGIN_URL\./,
  );
  await eventually(
    async () => {
      await ask(url);
      return upstream.counters['origin_failures'] ?? 0;
    },
    (count) => count >= 3,
  );
});

describe('no ruleset at all', () => {
  test('FAIL_MODE open forwards, and the record’s source is error', async () => {
    upstream.trouble = 'error';
    const url = await startEdge({}, { waitForRules: false });
    expect((await ask(`${url}/first`)).status).toBe(200);
    expect(origin.hits).toEqual(['GET /first']);
    upstream.trouble = 'none';
    await eventually(
      async () => upstream.records.find((record) => record.request_path === '/first')?.source,
      (verdictSource) => verdictSource === 'error',
    );
  });

  test('the first visitor gets a response although the service never gives one', async () => {
    upstream.trouble = 'silent';
    const url = await startEdge({}, { waitForRules: false });
    expect((await ask(url)).status).toBe(200);
    expect(polls()).toBeGreaterThan(0);
  });

  test('FAIL_MODE closed responds 503', async () => {
    upstream.trouble = 'error';
    const url = await startEdge({ FAIL_MODE: 'closed' }, { waitForRules: false });
    const answer = await ask(`${url}/first`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('x-protect-decision')).toBe('block');
    expect(origin.hits).toEqual([]);
  });
});

describe('/siteverify', () => {
  const submit = (url: string) =>
    ask(`${url}/form`, {
      method: 'POST',
      headers: { ...CHALLENGED, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'captcha-response=token',
    });

  test.each(['error', 'garbage', 'empty', 'silent'] as const)(
    '%s: the submission is not verified and is challenged again',
    async (trouble) => {
      const url = await startEdge();
      upstream.verifyTrouble = trouble;
      expect((await submit(url)).status).toBe(403);
      expect(origin.hits).toEqual([]);
    },
  );

  test('FAIL_MODE_VERIFY open forwards, and the record’s source is error', async () => {
    const url = await startEdge({ FAIL_MODE_VERIFY: 'open' });
    upstream.verifyTrouble = 'error';
    expect((await submit(url)).status).toBe(200);
    expect(origin.hits).toEqual(['POST /form']);
    await eventually(
      async () => upstream.records.find((record) => record.request_path === '/form')?.source,
      (verdictSource) => verdictSource === 'error',
    );
    upstream.verifyTrouble = 'none';
    upstream.verifyAnswer = { verified: false };
    expect((await submit(url)).status).toBe(403);
  });
});

describe('the origin', () => {
  test('that is down is called once, and the visitor gets a 502 with the request id', async () => {
    const url = await startEdge();
    origin.die = true;
    const answer = await fetch(`${url}/order`, { method: 'POST', body: 'x'.repeat(100_000) });
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain(answer.headers.get('x-protect-request-id')!);
    expect(origin.hits).toEqual(['POST /order']);
  });

  test.each([600, 799, 999])('that answers with the status %i is passed on as it is, and recorded', async (odd) => {
    const url = await startEdge();
    origin.status = odd;
    const answer = await fetch(`${url}/odd`);
    expect([answer.status, answer.headers.get('x-own'), await answer.text()]).toEqual([odd, 'yes', 'from the origin']);
    await eventually(
      async () => upstream.records.find((record) => record.request_path === '/odd')?.status,
      (recorded) => recorded === odd,
    );
  });
});

describe('a challenge while the service is away', () => {
  async function solveLocally(url: string): Promise<string> {
    const { body: challenge } = await postJson<ChallengeResponse>(url, '/__protect/challenge', { action: 'clearance' });
    expect(challenge.pow?.lane).toBe('sha256');
    const { salt = '', count = 0, bits = 0 } = challenge.pow!;
    const counters = await solveSha256({ salt, count, bits });
    const { body: wrong } = await postJson<SolutionResponse>(url, '/__protect/solution', {
      challenge: challenge.challenge,
      solution: { counters: 'AAAA' },
    });
    expect(wrong.verified).toBe(false);
    const { body: solved } = await postJson<SolutionResponse>(url, '/__protect/solution', {
      challenge: challenge.challenge,
      solution: { counters },
    });
    return solved.token!;
  }

  test('is issued and checked by the edge, bound to the visitor and usable once, and its outcomes are counted', async () => {
    const url = await startEdge();
    upstream.trouble = 'error';
    const token = await solveLocally(url);
    const stolen = await postJson<{ verified: boolean }>(
      url,
      '/__protect/verify',
      { token },
      { 'user-agent': `${FIREFOX} ChallengeMe/2` },
    );
    expect(stolen.body.verified).toBe(false);
    const { answer, body } = await postJson<{ verified: boolean }>(url, '/__protect/verify', { token });
    expect(body.verified).toBe(true);
    const cookie = cookiesOf(answer);
    expect((await ask(url, { headers: { ...CHALLENGED, cookie } })).status).toBe(200);
    expect((await postJson<{ verified: boolean }>(url, '/__protect/verify', { token })).body.verified).toBe(false);
    upstream.trouble = 'none';
    await eventually(
      async () => {
        await ask(url);
        return ['issued', 'failed', 'passed'].map(
          (name) => upstream.counters[`local_challenges{outcome="${name}"}`] ?? 0,
        );
      },
      (counted) => counted.every((count) => count === 1),
    );
  });

  test('never replaces a picture, of the site or of the risk', async () => {
    const challengeOf = async (url: string, headers: Record<string, string | null> = {}) => {
      const asked = { ...CHALLENGED, 'content-type': 'application/json', ...headers };
      const body = JSON.stringify({ action: 'clearance' });
      return (await browse(`${url}/__protect/challenge`, { method: 'POST', headers: asked, body })).status;
    };
    const calm = await startEdge();
    upstream.trouble = 'error';
    expect(await challengeOf(calm)).toBe(200);
    expect(await challengeOf(calm, { 'accept-language': null, 'sec-fetch-site': null, 'accept-encoding': null })).toBe(
      503,
    );
    upstream.trouble = 'none';
    upstream.setSite({ captchaType: 'image' });
    const strict = await startEdge();
    upstream.trouble = 'error';
    expect(await challengeOf(strict)).toBe(503);
  });

  test('is not enough where a higher level is required', async () => {
    upstream.setPolicy({ clearanceLevel: 1 });
    const url = await startEdge();
    upstream.trouble = 'error';
    expect((await postJson(url, '/__protect/challenge', { action: 'clearance' })).answer.status).toBe(503);
  });

  test('is forwarded with FAIL_MODE_CHALLENGE open, and a 503 with closed', async () => {
    const open = await startEdge({ FAIL_MODE_CHALLENGE: 'open' });
    const closed = await startEdge({ FAIL_MODE_CHALLENGE: 'closed' });
    expect((await ask(open, { headers: CHALLENGED })).status).toBe(403);
    upstream.trouble = 'error';
    await eventually(
      async () => (await ask(open, { headers: CHALLENGED })).status,
      (code) => code === 200,
    );
    await eventually(
      async () => (await ask(closed, { headers: CHALLENGED })).status,
      (code) => code === 503,
    );
  });
});

describe('configuration', () => {
  test('that is wrong makes every request a 503, and none reaches the origin', async () => {
    const url = await startEdge(
      { SERVICE_URL: 'nonsense', FAIL_MODE: 'perhaps', CLIENT_JWT: 'x' },
      { waitForRules: false },
    );
    const answer = await fetch(url);
    expect(answer.status).toBe(503);
    expect(origin.hits).toEqual([]);
  });
});

describe('a service of another release', () => {
  const protectScript = `/__protect/protect.js?v=${assetHashes['protect.js']}`;

  test('does not supply our scripts: they are an uncached 404, and pages pass', async () => {
    upstream.trouble = 'other-release';
    const url = await startEdge();
    const script = await ask(url + protectScript);
    expect([script.status, script.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect((await ask(url)).status).toBe(200);
    upstream.trouble = 'none';
    await eventually(
      async () => (await ask(url + protectScript)).status,
      (answered) => answered === 200,
    );
    const again = await ask(url + protectScript);
    expect(again.headers.get('cache-control')).toContain('immutable');
  });

  test('leaves challenge pages in English until the matching release responds, with their scripts working', async () => {
    upstream.trouble = 'other-release';
    const url = await startEdge();
    const page = async () => {
      const headers = { ...CHALLENGED, 'accept-language': 'ar' };
      return (await fetch(url, { headers })).text();
    };
    const english = await page();
    expect(english).toContain('<html lang="en"');
    const needed = /\/__protect\/interstitial\.js\?v=[0-9a-f]+/.exec(english)![0];
    expect((await ask(url + needed)).status).toBe(200);
    upstream.trouble = 'none';
    await eventually(page, (text) => text.includes('<html lang="ar" dir="rtl"'));
  });

  test('a first visitor who reads Arabic gets the page in Arabic at once', async () => {
    const url = await startEdge({}, { waitForRules: false });
    const answer = await fetch(url, { headers: { ...CHALLENGED, 'accept-language': 'ar-EG,ar;q=0.9' } });
    expect(await answer.text()).toContain('<html lang="ar" dir="rtl"');
  });
});
