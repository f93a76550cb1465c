/**
 * What a visitor types is not taken for a signal and does not reach the origin. The edge runs on workerd itself, with
 * the visitor's bytes on its socket, so that neither a simulator nor the stack's listener removes anything first.
 * Rules, keys and origin are the stack's.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bundleWorker, readWranglerFile } from '../../src/cli/worker-config.ts';
import { browse } from '../support/browse.ts';
import { type RawWorker, startRawWorker } from '../support/raw-workerd.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { cookiesOf, solvedToken } from './edge-visitor.ts';
import { stackNow } from '../support/clock.ts';

const stack = useStack();
let edge: RawWorker;

const FORGED_IP = '203.0.113.66';
const OPEN_IP = '198.51.100.7';

beforeAll(async () => {
  const file = readWranglerFile('wrangler.toml');
  edge = await startRawWorker({
    source: await bundleWorker(file.main),
    compatibilityDate: file.compatibility_date,
    compatibilityFlags: file.compatibility_flags ?? [],
    kv: ['GATE_KV'],
    queues: ['VERDICT_QUEUE'],
    vars: {
      ...file.vars,
      SERVICE_URL: stack().serviceUrl,
      ORIGIN_URL: stack().originUrl,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: stack().signalsSecret,
      CLIENT_JWT: stack().clientJwt,
      RULES_POLL_SECONDS: '1',
      RULES_MAX_STALE_SECONDS: '1',
    },
  });
  await manage(stack(), '/protect/access-rules/create', {
    rules: [
      { type: 'ip', value: FORGED_IP, verdict: 'block' },
      { type: 'countryCode', value: 'KP', verdict: 'block' },
      { type: 'asn', value: 64_500, verdict: 'block' },
      { type: 'ip', value: OPEN_IP, verdict: 'allow' },
      { type: 'userAgent', value: 'gated', verdict: 'challenge' },
    ],
  });
  await eventually(
    () => visit('/echo', { 'user-agent': 'gated' }),
    (response) => response.status === 403,
  );
});
afterAll(() => edge.stop());

function visit(path: string, headers: Record<string, string>): Promise<Response> {
  return browse(`${edge.url}${path}`, { headers });
}

/** Every header that a visitor might forge, in one request. */
function forgeries(ip: string): Record<string, string> {
  return {
    'x-client-ip': ip,
    'x-client-country': 'KP',
    'x-client-asn': '64500',
    'x-client-ja4': 't13d1516h2_8daaf6152771_02713d6af862',
    'x-client-user-agent': 'forged',
    'x-signals-secret': 'a-guess-that-is-long-enough-but-wrong',
    'cf-connecting-ip': ip,
    'true-client-ip': ip,
    'x-real-ip': ip,
    'x-forwarded-for': ip,
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'gopher',
    forwarded: `for=${ip}`,
    'x-protect-verified': 'true',
    'x-protect-decision': 'allow',
    'x-protect-request-id': 'forged-id',
    'x-protect-signature': 't=1,kid=x,v1=forged',
    'x-protect-status': 'active',
  };
}

describe('forged headers on raw workerd', () => {
  let echoed: { headers: Record<string, string> };
  let answer: Response;
  beforeEach(async () => {
    answer = await visit('/echo', { 'user-agent': 'plain', ...forgeries(FORGED_IP) });
    echoed = (await answer.json()) as typeof echoed;
  });

  test('block nobody, although each names a blocked network', () => {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-protect-decision')).toBe('allow');
  });

  test('do not reach the origin', () => {
    expect(JSON.stringify(echoed)).not.toMatch(/203\.0\.113\.66|64500|KP|evil\.example|gopher|forged|a-guess/);
    for (const name of ['x-client-ip', 'x-client-asn', 'x-client-country', 'x-client-ja4', 'x-signals-secret']) {
      expect(echoed.headers).not.toHaveProperty(name);
    }
  });

  test('do not replace the edge’s own headers', () => {
    expect(echoed.headers['x-protect-verified']).toBe('false');
    expect(echoed.headers['x-protect-request-id']).toBe(answer.headers.get('x-protect-request-id'));
  });

  test('appear in no verdict', async () => {
    const marker = `/echo/spoof-${stackNow()}`;
    await visit(marker, { 'user-agent': 'plain', ...forgeries(FORGED_IP) });
    const { verdicts } = await eventually(
      () => manage<{ verdicts: object[] }>(stack(), '/protect/verdicts', { requestPath: marker }),
      (found) => found.verdicts.length === 1,
    );
    // The address of the socket, and nothing that the visitor typed.
    const unknown = { asn: null, country: null, ja4: null };
    expect(verdicts[0]).toMatchObject({ ip: '127.0.0.1', ...unknown, user_agent: 'plain', decision: 'allow' });
  });

  test('allow nobody, although one names an allowed address', async () => {
    const gated = await visit('/echo', { 'user-agent': 'gated', ...forgeries(OPEN_IP) });
    expect(gated.status).toBe(403);
  });

  test('count as signals with the right secret', async () => {
    const signed = { 'user-agent': 'plain', 'x-signals-secret': stack().signalsSecret };
    expect((await visit('/echo', { ...signed, 'x-client-ip': FORGED_IP })).status).toBe(403);
    expect((await visit('/echo', { ...signed, 'x-client-country': 'KP' })).status).toBe(403);
    expect(
      (
        await visit('/echo', {
          'user-agent': 'gated',
          'x-signals-secret': stack().signalsSecret,
          'x-client-ip': OPEN_IP,
        })
      ).status,
    ).toBe(200);
  });
});

describe('a forged clearance', () => {
  test('lifts no challenge and does not reach the origin', async () => {
    const payload = Buffer.from(
      JSON.stringify({ instance: stack().instanceId, jti: 'x', level: 2, iat: 1, exp: 9_999_999_999 }),
    ).toString('base64url');
    for (const token of [
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${payload}.AAAA`,
      'x',
    ]) {
      const gated = await visit('/echo', { 'user-agent': 'gated', cookie: `__Host-protect-clearance=${token}` });
      expect([token, gated.status]).toEqual([token, 403]);
    }
    const plain = await visit('/echo', { 'user-agent': 'plain', cookie: 'a=1; __Host-protect-clearance=x; b=2' });
    const { headers } = (await plain.json()) as { headers: Record<string, string> };
    expect(headers['cookie']).toBe('a=1; b=2');
  });

  test('is refused like one from another browser', async () => {
    const signed = { 'x-signals-secret': stack().signalsSecret, 'x-client-ip': '192.0.2.10' };
    const token = await solvedToken(
      { ...stack(), edgeUrl: edge.url },
      { 'user-agent': 'gated one', ...signed },
      { siteKey: stack().siteKey, action: 'clearance' },
    );
    const cleared = await fetch(`${edge.url}/__protect/verify`, {
      method: 'POST',
      headers: { 'user-agent': 'gated one', 'content-type': 'application/json', ...signed },
      body: JSON.stringify({ token }),
    });
    const cookie = cookiesOf(cleared);
    expect(cookie).toContain('__Host-protect-clearance=');
    expect((await visit('/echo', { 'user-agent': 'gated one', cookie, ...signed })).status).toBe(200);
    expect((await visit('/echo', { 'user-agent': 'gated two', cookie, ...signed })).status).toBe(403);
    expect(
      (await visit('/echo', { 'user-agent': 'gated one', cookie, ...signed, 'x-client-ip': '192.0.9.10' })).status,
    ).toBe(403);
  });
});
