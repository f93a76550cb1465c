/** Pages for scripts that never run a page: no cookie, few headers, forged headers, many addresses, many edges. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { cookiesOf, hitsOf, signalsOf, solvedToken } from '../e2e/edge-visitor.ts';
import { FIREFOX, browse } from '../support/browse.ts';
import { type RawWorker, startRawWorker } from '../support/raw-workerd.ts';
import { expectRows } from '../support/rows.ts';
import { eventually, manage, rulesLoaded, useStack } from '../support/stack.ts';
import { asCurl, BUDGET, RESERVE, byName, exhaust, many, passed, type Visit, visit } from './visits.ts';

const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15';
const OLD_SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 15_8 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.6 Mobile/15E148 Safari/604.1';

// Proof of work only, so that a test can solve the challenge.
const stack = useStack({ seedChanges: { settings: { captchaType: 'pow' } } });

/** A quarter of the default allowance of a session. */
const OF_CLEARANCE = 3;

/** How many of so many visits pass. */
const sent = (count: number, of: (index: number) => Visit) => passed(stack(), many(count, of));
/** How many pass until none does. */
const used = (of: (index: number) => Visit) => exhaust(stack(), of);

/** Exactly that many, unless a window of ten minutes ends meanwhile: then a little of it comes back. */
function isBudget(count: number, pages = BUDGET + RESERVE): void {
  expect(count).toBeGreaterThanOrEqual(pages);
  expect(count).toBeLessThanOrEqual(pages * 1.1);
}

interface VerdictRow {
  request_id: string;
  source: string;
  decided_by: string;
  risk_score: number;
  fired_rules: { id: string }[];
}
async function recordOf(id: string, ip: string): Promise<VerdictRow> {
  const search = async () => {
    const page = await manage<{ verdicts: VerdictRow[] }>(stack(), '/protect/verdicts/search', { ip });
    return page.verdicts.find((verdict) => verdict.request_id === id);
  };
  return (await eventually(search, (found) => found !== undefined))!;
}

describe('a client without a session gets', () => {
  test('no page under the name of a tool', async () => {
    expect(await sent(500, () => ({ from: '192.0.2.1', headers: asCurl }))).toBe(0);
  });

  test.each([
    ['Firefox', FIREFOX],
    ['Safari', SAFARI],
    ['an old Safari', OLD_SAFARI],
  ])('no page with the name of %s, a language and nothing else', async (_, userAgent) => {
    const from = '192.0.2.2';
    const headers = byName(userAgent);
    expect(await sent(40, () => ({ from, headers }))).toBe(0);
    const {
      source,
      risk_score: score,
      fired_rules: rules,
    } = await recordOf((await visit(stack(), { from, headers })).id, from);
    expect(source).toBe('risk');
    expect(score).toBeGreaterThanOrEqual(0.5);
    expect(rules.map(({ id }) => id)).toContain('risk:no-html-accept');
  });

  test('the budget with all headers of a browser, and the challenge after it', async () => {
    const from = '198.51.100.1';
    expect(await sent(500, () => ({ from }))).toBeLessThanOrEqual(BUDGET + RESERVE);
    await used(() => ({ from }));
    const refused = await visit(stack(), { from });
    expect(refused).toMatchObject({ status: 403, decision: 'challenge' });
    expect(refused.text).toContain('interstitial.js');
    const record = await recordOf(refused.id, from);
    expect(record).toMatchObject({ source: 'policy', decided_by: 'policy:pendingBudget', risk_score: 0 });
  });

  test('the budget with HEAD, on any path, with other hosts and with garbage for a session', async () => {
    const cookies = ['protect_session=garbage', 'protect_session=a|b.c.d', 'protect_session=', 'other=1'];
    const hosts = ['localhost', '127.0.0.1'];
    const of = (index: number) => ({
      from: '198.51.101.1',
      path: `/echo/${index}`,
      method: index % 3 === 0 ? 'HEAD' : 'GET',
      headers: { cookie: cookies[index % 4]!, host: hosts[index % 2]! },
    });
    isBudget(await used(of));
  });
});

describe('the budget holds against hopping over', () => {
  test('the addresses of one /24: three budgets, with their reserves', async () => {
    isBudget(await used((index) => ({ from: `203.0.113.${index % 256}` })), 3 * BUDGET);
  });

  test('the /24s of one /16: thirty budgets', async () => {
    isBudget(await used((index) => ({ from: `100.64.${index % 256}.${index % 7}` })), 30 * BUDGET);
  });

  test('the /64s of one /56: three budgets', async () => {
    isBudget(await used((index) => ({ from: `2001:db8:1:${(index % 256).toString(16)}::1` })), 3 * BUDGET);
  });

  test('the /64s of one /48: thirty budgets', async () => {
    isBudget(await used((index) => ({ from: `2001:db8:2:${((index * 32) % 65_536).toString(16)}::1` })), 30 * BUDGET);
  });
});

describe('a page that is asked for as something else', () => {
  const as = (destination: string, mode: string, accept = '*/*') => ({
    accept,
    'sec-fetch-dest': destination,
    'sec-fetch-mode': mode,
    'sec-fetch-site': 'same-origin',
    'sec-fetch-user': null,
    'upgrade-insecure-requests': null,
  });

  test('gets the budget and no more, and the origin is soon left alone', () =>
    expectRows<[string, Record<string, string | null>, string]>(
      [
        ['a picture', as('image', 'no-cors', 'image/webp,*/*'), '10.1.0.1'],
        ['a call of a script', as('empty', 'cors'), '10.2.0.1'],
        ['a manifest', as('manifest', 'cors'), '10.3.0.1'],
        ['a WebSocket', as('empty', 'websocket'), '10.4.0.1'],
        ['a part of a film', { ...as('video', 'no-cors'), range: 'bytes=0-' }, '10.5.0.1'],
      ],
      async ([, headers, from]) => {
        const before = await hitsOf(stack(), '/');
        expect(await sent(300, () => ({ from, headers }))).toBeLessThanOrEqual(BUDGET + RESERVE);
        // 25 were on their way to the origin at once.
        expect((await hitsOf(stack(), '/')) - before).toBeLessThanOrEqual(2 * BUDGET + RESERVE + 25);
        await used(() => ({ from, headers }));
        expect(await visit(stack(), { from, headers })).toMatchObject({ status: 403, decision: 'challenge' });
        expect(await visit(stack(), { from })).toMatchObject({ status: 403, decision: 'challenge' });
      },
    ));

  test('data is counted like a page', async () => {
    const ask = { from: '10.9.0.1', path: '/echo', headers: as('image', 'no-cors', 'image/webp,*/*') };
    expect(await sent(100, () => ask)).toBeLessThanOrEqual(BUDGET + RESERVE);
    await used(() => ask);
    const { id } = await visit(stack(), ask);
    expect(await recordOf(id, ask.from)).toMatchObject({ source: 'policy', decided_by: 'policy:pendingBudget' });
  });
});

describe('several edges together', () => {
  const EDGES = 3;
  const edges: RawWorker[] = [];
  beforeAll(async () => {
    const source = await bundleWorker('src/edge/index.ts');
    const vars = {
      SERVICE_URL: stack().serviceUrl,
      ORIGIN_URL: stack().originUrl,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: stack().signalsSecret,
      CLIENT_JWT: stack().clientJwt,
    };
    for (let index = 0; index < EDGES; index++) {
      const edge = await startRawWorker({
        source,
        compatibilityDate: '2026-10-01',
        compatibilityFlags: ['global_fetch_strictly_public'],
        vars,
      });
      edges.push(edge);
      await rulesLoaded({ edgeUrl: edge.url });
    }
  });
  afterAll(async () => {
    await Promise.all(edges.map((edge) => edge.stop()));
  });

  test('exceed the budget by a sixth of it for each edge at most, asked in parallel', async () => {
    const of = (index: number) => ({ from: '172.20.0.1', edgeUrl: edges[index % EDGES]!.url });
    const count = await used(of);
    expect(count).toBeGreaterThanOrEqual(BUDGET);
    expect(count).toBeLessThanOrEqual(BUDGET + EDGES * (BUDGET / 6 + RESERVE));
  });
});

describe('a person past the budget', () => {
  test('solves the challenge and goes on, whatever others of their network do', async () => {
    const from = '198.18.0.1';
    await used(() => ({ from }));
    const headers = signalsOf(stack(), { from });
    const token = await solvedToken(stack(), headers);
    const bought = await browse(`${stack().edgeUrl}/__protect/verify`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    const cookie = cookiesOf(bought);
    const pages = await sent(60, () => ({ from, headers: { cookie } }));
    expect(pages).toBeGreaterThanOrEqual(OF_CLEARANCE);
    // A window of ten minutes may end meanwhile.
    expect(pages).toBeLessThanOrEqual(2 * OF_CLEARANCE);
    expect(await visit(stack(), { from })).toMatchObject({ status: 403, decision: 'challenge' });
  });

  test('gets what no page has prepared, and that took nothing from the budget', async () => {
    const from = '198.19.0.1';
    for (const path of ['/favicon.ico', '/robots.txt', '/.well-known/security.txt']) {
      await sent(60, () => ({ from, path }));
    }
    isBudget(await used(() => ({ from })));
    expect((await visit(stack(), { from, path: '/favicon.ico' })).decision).toBe('allow');
  });
});

describe('onPending', () => {
  const use = async (onPending: string, from: string, decision: string) => {
    const id = stack().instanceId;
    await manage(stack(), '/protect/instances/update', { id, enforcementPolicy: { html: { onPending } } });
    await eventually(
      () => visit(stack(), { from }),
      (visited) => visited.decision === decision,
    );
  };

  test('challenge challenges every newcomer; pass, and the older word allow, let all of them in', async () => {
    await use('challenge', '192.88.0.1', 'challenge');
    expect(await sent(10, () => ({ from: '192.88.1.1' }))).toBe(0);
    await use('pass', '192.88.0.1', 'allow');
    expect(await sent(60, () => ({ from: '192.88.2.1' }))).toBe(60);
    await use('challenge', '192.88.0.1', 'challenge');
    await use('allow', '192.88.0.1', 'allow');
    expect(await sent(60, () => ({ from: '192.88.3.1' }))).toBe(60);
  });
});
