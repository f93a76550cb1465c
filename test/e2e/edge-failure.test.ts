/** The failure contract of docs/failure-modes.md, row by row, on workerd itself with a service that fails on demand. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { solveSha256 } from '../../src/captcha/pow/pow-solve.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { assetHashes } from '../../src/widget/bundle.generated.ts';
import { browse, FIREFOX } from '../support/browse.ts';
import { startRawWorker } from '../support/raw-workerd.ts';
import type { RawWorker } from '../support/raw-workerd.ts';
import { eventually } from '../support/stack.ts';
import { cookiesOf } from './edge-visitor.ts';
import { startUpstream } from './edge-upstream.ts';
import type { Upstream } from './edge-upstream.ts';

const BLOCKED = { 'user-agent': 'BlockMe/1' };
const CHALLENGED = { 'user-agent': `${FIREFOX} ChallengeMe/1` };
let source: string;
let upstream: Upstream;
let origin: { url: string; hits: string[]; server: Server; die: boolean };
let workers: RawWorker[] = [];

beforeAll(async () => {
  source = await bundleWorker('src/edge/index.ts');
});
beforeEach(async () => {
  upstream = await startUpstream();
  await upstream.setRules([
    { type: 'userAgent', value: 'blockme', verdict: 'block' },
    { type: 'userAgent', value: 'challengeme', verdict: 'challenge' },
  ]);
  origin = await startOrigin();
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  origin.server.closeAllConnections();
  await new Promise((done) => origin.server.close(done));
  await upstream.stop();
});

/** Counts what arrives. With `die` it hangs up instead of responding. */
async function startOrigin(): Promise<typeof origin> {
  const server = createServer((request, response) => {
    started.hits.push(`${request.method} ${request.url}`);
    if (started.die) return void request.socket.destroy();
    request.resume();
    request.on('end', () => response.end('from the origin'));
  });
  const started = { url: '', hits: [] as string[], server, die: false };
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  started.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return started;
}

async function startEdge(vars: Record<string, string> = {}, waitForRules = true): Promise<string> {
  const worker = await startRawWorker({
    source,
    compatibilityDate: '2026-10-01',
    compatibilityFlags: ['global_fetch_strictly_public'],
    kv: ['GATE_KV'],
    vars: {
      SERVICE_URL: upstream.url,
      ORIGIN_URL: origin.url,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: 'a-secret-of-the-operators-proxy',
      CLIENT_JWT: upstream.clientJwt,
      OPS_TOKEN: 'a-token-of-the-operators',
      RULES_POLL_SECONDS: '0.2',
      RULES_MAX_STALE_SECONDS: '0.5',
      ...vars,
    },
  });
  workers.push(worker);
  if (waitForRules) {
    await eventually(
      async () => (await fetch(worker.url, { headers: BLOCKED })).status,
      (status) => status === 403,
    );
    origin.hits.length = 0;
  }
  return worker.url;
}

const status = async (url: string, init?: RequestInit) => {
  const answer = await fetch(url, init);
  await answer.arrayBuffer();
  return { status: answer.status, headers: answer.headers };
};
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
          expect((await status(url, { headers: BLOCKED })).status).toBe(403);
          expect((await status(url)).status).toBe(200);
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
        expect((await status(url)).status).toBe(200);
        return upstream.open.map(({ path }) => path);
      },
      (open) => open.includes('/edge/v1/version'),
    );
  });

  test('a refused client JWT degrades the health status, and only the operator sees why', async () => {
    const url = await startEdge();
    upstream.trouble = 'refused';
    const ask = async (headers: Record<string, string> = {}) =>
      (await (await fetch(`${url}/__protect/health`, { headers })).json()) as { status: string; warnings?: string[] };
    await eventually(
      async () => {
        await status(url);
        return ask();
      },
      ({ status: state }) => state === 'degraded',
    );
    expect(Object.keys(await ask())).toEqual(['status']);
    const told = await ask({ authorization: 'Bearer a-token-of-the-operators' });
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
          expect((await status(url, { headers: BLOCKED })).status).toBe(403);
          return upstream.calls.filter((path) => path.startsWith('/edge/v1/rulesets/')).length;
        },
        (downloads) => downloads >= 2,
      );
      expect((await status(url, { headers: BLOCKED })).status).toBe(403);
      upstream.trouble = 'none';
      await eventually(
        async () => (await status(url, { headers: BLOCKED })).status,
        (code) => code === 200,
      );
      await eventually(
        async () => {
          await status(url);
          return upstream.counters['rulesets_refused{from="service"}'] ?? 0;
        },
        (count) => count > 0,
      );
    },
  );
});

describe('no ruleset at all', () => {
  test('FAIL_MODE open forwards, and the record’s source is error', async () => {
    upstream.trouble = 'error';
    const url = await startEdge({}, false);
    expect((await status(`${url}/first`)).status).toBe(200);
    expect(origin.hits).toEqual(['GET /first']);
    upstream.trouble = 'none';
    await eventually(
      async () => upstream.records.find((record) => record.request_path === '/first')?.source,
      (verdictSource) => verdictSource === 'error',
    );
  });

  test('the first visitor gets a response although the service never gives one', async () => {
    upstream.trouble = 'silent';
    const url = await startEdge({}, false);
    expect((await status(url)).status).toBe(200);
    expect(polls()).toBeGreaterThan(0);
  });

  test('FAIL_MODE closed responds 503', async () => {
    upstream.trouble = 'error';
    const url = await startEdge({ FAIL_MODE: 'closed' }, false);
    const answer = await status(`${url}/first`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('x-protect-decision')).toBe('block');
    expect(origin.hits).toEqual([]);
  });
});

describe('/siteverify', () => {
  const submit = (url: string) =>
    status(`${url}/form`, {
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
});

describe('a challenge while the service is away', () => {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what the JSON holds
  const post = async <Answer>(
    url: string,
    path: string,
    body: object,
    headers: Record<string, string> = CHALLENGED,
  ) => {
    const answer = await browse(url + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { answer, body: (await answer.json()) as Answer };
  };
  async function solveLocally(url: string): Promise<string> {
    const { body: challenge } = await post<ChallengeResponse>(url, '/__protect/challenge', { action: 'clearance' });
    expect(challenge.pow?.lane).toBe('sha256');
    const { salt = '', count = 0, bits = 0 } = challenge.pow!;
    const counters = await solveSha256({ salt, count, bits });
    const { body: wrong } = await post<SolutionResponse>(url, '/__protect/solution', {
      challenge: challenge.challenge,
      solution: { counters: 'AAAA' },
    });
    expect(wrong.verified).toBe(false);
    const { body: solved } = await post<SolutionResponse>(url, '/__protect/solution', {
      challenge: challenge.challenge,
      solution: { counters },
    });
    return solved.token!;
  }

  test('is issued and checked by the edge, bound to the visitor and usable once', async () => {
    const url = await startEdge();
    upstream.trouble = 'error';
    const token = await solveLocally(url);
    const stolen = await post<{ verified: boolean }>(
      url,
      '/__protect/verify',
      { token },
      { 'user-agent': `${FIREFOX} ChallengeMe/2` },
    );
    expect(stolen.body.verified).toBe(false);
    const { answer, body } = await post<{ verified: boolean }>(url, '/__protect/verify', { token });
    expect(body.verified).toBe(true);
    const cookie = cookiesOf(answer);
    expect((await status(url, { headers: { ...CHALLENGED, cookie } })).status).toBe(200);
    expect((await post<{ verified: boolean }>(url, '/__protect/verify', { token })).body.verified).toBe(false);
  });

  test('never replaces a picture, of the site or of the risk', async () => {
    const ask = async (url: string, headers: Record<string, string | null> = {}) => {
      const asked = { ...CHALLENGED, 'content-type': 'application/json', ...headers };
      const body = JSON.stringify({ action: 'clearance' });
      return (await browse(`${url}/__protect/challenge`, { method: 'POST', headers: asked, body })).status;
    };
    const calm = await startEdge();
    upstream.trouble = 'error';
    expect(await ask(calm)).toBe(200);
    expect(await ask(calm, { 'accept-language': null, 'sec-fetch-site': null, 'accept-encoding': null })).toBe(503);
    upstream.trouble = 'none';
    upstream.setSite({ captchaType: 'image' });
    const strict = await startEdge();
    upstream.trouble = 'error';
    expect(await ask(strict)).toBe(503);
  });

  test('is not enough where a higher level is required', async () => {
    upstream.setPolicy({ clearanceLevel: 1 });
    const url = await startEdge();
    upstream.trouble = 'error';
    expect((await post(url, '/__protect/challenge', { action: 'clearance' })).answer.status).toBe(503);
  });

  test('is forwarded with FAIL_MODE_CHALLENGE open, and a 503 with closed', async () => {
    const open = await startEdge({ FAIL_MODE_CHALLENGE: 'open' });
    const closed = await startEdge({ FAIL_MODE_CHALLENGE: 'closed' });
    expect((await status(open, { headers: CHALLENGED })).status).toBe(403);
    upstream.trouble = 'error';
    await eventually(
      async () => (await status(open, { headers: CHALLENGED })).status,
      (code) => code === 200,
    );
    await eventually(
      async () => (await status(closed, { headers: CHALLENGED })).status,
      (code) => code === 503,
    );
  });
});

describe('configuration', () => {
  test('that is wrong makes every request a 503, and none reaches the origin', async () => {
    const url = await startEdge({ SERVICE_URL: 'nonsense', FAIL_MODE: 'perhaps', CLIENT_JWT: 'x' }, false);
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
    const script = await status(url + protectScript);
    expect([script.status, script.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect((await status(url)).status).toBe(200);
    upstream.trouble = 'none';
    await eventually(
      async () => (await status(url + protectScript)).status,
      (answered) => answered === 200,
    );
    const again = await status(url + protectScript);
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
    expect((await status(url + needed)).status).toBe(200);
    upstream.trouble = 'none';
    await eventually(page, (text) => text.includes('<html lang="ar" dir="rtl"'));
  });

  test('a first visitor who reads Arabic gets the page in Arabic at once', async () => {
    const url = await startEdge({}, false);
    const answer = await fetch(url, { headers: { ...CHALLENGED, 'accept-language': 'ar-EG,ar;q=0.9' } });
    expect(await answer.text()).toContain('<html lang="ar" dir="rtl"');
  });
});
