/** The order of the checks, and that a failed check leaves the token unspent. */
import { describe, expect, test } from 'vitest';
import { siteSettings } from '../../../src/contract/management/site-settings.ts';
import { judgeToken, type VerifyPorts, type VerifyQuestion } from '../../../src/captcha/verify/judge-token.ts';
import { expectRows } from '../../support/rows.ts';
import { token } from './sealing-fixtures.ts';

const site = { siteKey: 'site', settings: siteSettings.parse({ domains: ['example.com'] }) };
const question: VerifyQuestion = {
  token: 'sealed',
  audience: 'site',
  ip: null,
  email: null,
  userAccount: null,
  action: null,
  hostname: null,
  level: null,
  idempotencyKey: null,
};

/** A ledger in memory that behaves like the real one: the first spend of a key wins, and its fingerprint is repeated. */
function world(over: Partial<VerifyPorts> = {}): { calls: string[]; ports: VerifyPorts } {
  const calls: string[] = [];
  const rows = new Map<string, { fingerprint: string | null; answer: string }>();
  const ports: VerifyPorts = {
    async openToken(text) {
      calls.push('open');
      return text === 'sealed' ? token : null;
    },
    async policy() {
      calls.push('policy');
      return { refusal: null, notEvaluated: [] };
    },
    async spend({ key, fingerprint, answer }) {
      calls.push(`spend ${key}`);
      const row = rows.get(key);
      if (row === undefined) {
        rows.set(key, { fingerprint, answer });
        return { spent: true, replay: null };
      }
      return { spent: false, replay: fingerprint !== null && row.fingerprint === fingerprint ? row.answer : null };
    },
    async recall(key, _, fingerprint) {
      calls.push('recall');
      const row = rows.get(key);
      return row?.fingerprint === fingerprint ? row.answer : null;
    },
    render: (judgement) => JSON.stringify({ verified: judgement.verified }),
    ...over,
  };
  return { calls, ports };
}
const NOW = token.solvedAt + 1000;

test('opens the seal, judges the policy and spends, in this order', async () => {
  const { calls, ports } = world();
  expect((await judgeToken(site, 'secret', question, ports, NOW)).verified).toBe(true);
  expect(calls).toEqual(['open', 'policy', `spend site:${token.jti}`]);
});

test('each fault is reported before the policy runs, and spends nothing', () =>
  expectRows<[string, Partial<VerifyQuestion>, Partial<typeof site>, number]>(
    [
      ['CAPTCHA.INVALID_TOKEN', { token: 'other' }, {}, NOW],
      ['API.TIMESTAMP_TOO_OLD', {}, {}, token.expiresAt],
      ['API.SITE_KEY_MISMATCH', {}, { siteKey: 'other' }, NOW],
      ['API.UNAUTHORIZED_ORIGIN_URL', {}, { settings: siteSettings.parse({ domains: ['example.org'] }) }, NOW],
      ['API.UNAUTHORIZED_ORIGIN_URL', { hostname: 'www.example.com' }, {}, NOW],
      ['API.UNAUTHORIZED_ORIGIN_URL', { hostname: 'example.com/x' }, {}, NOW],
      ['API.UNAUTHORIZED_ORIGIN_URL', { hostname: 'x@example.com' }, {}, NOW],
      ['API.UNAUTHORIZED_ORIGIN_URL', { hostname: '' }, {}, NOW],
      ['API.ACTION_MISMATCH', { action: 'clearance' }, {}, NOW],
      ['API.LEVEL_TOO_LOW', { level: 2 }, {}, NOW],
    ],
    async ([reason, asked, change, now]) => {
      const { calls, ports } = world();
      const judgement = await judgeToken({ ...site, ...change }, 'secret', { ...question, ...asked }, ports, now);
      expect(judgement).toMatchObject({ verified: false, reason });
      expect(calls).toEqual(['open']);
    },
  ));

test('a clearance token verifies for a backend only if it asks for that action, and always for an edge', () =>
  expectRows<[string, Partial<VerifyQuestion>, string | null]>(
    [
      ['a backend that names no action', {}, 'API.ACTION_MISMATCH'],
      ['a backend that names another one', { action: 'login' }, 'API.ACTION_MISMATCH'],
      ['a backend that asks for it', { action: 'clearance' }, null],
      ['an edge that names no action', { audience: 'edge' }, null],
      ['an edge that asks for it', { audience: 'edge', action: 'clearance' }, null],
    ],
    async ([, asked, reason]) => {
      const { calls, ports } = world({ openToken: async () => ({ ...token, action: 'clearance' }) });
      const judgement = await judgeToken(site, 's', { ...question, ...asked }, ports, NOW);
      expect(judgement).toMatchObject({ verified: reason === null, reason });
      expect(calls.some((call) => call.startsWith('spend'))).toBe(reason === null);
    },
  ));

test('reports expiry first, then site, then host name, then action, then level', async () => {
  const { ports } = world();
  const wrong = { ...question, hostname: 'x.example.com', action: 'x', level: 2 };
  const reasons = await Promise.all([
    judgeToken({ ...site, siteKey: 'other' }, 's', wrong, ports, token.expiresAt),
    judgeToken({ ...site, siteKey: 'other' }, 's', wrong, ports, NOW),
    judgeToken(site, 's', wrong, ports, NOW),
    judgeToken(site, 's', { ...wrong, hostname: 'example.com' }, ports, NOW),
    judgeToken(site, 's', { ...wrong, hostname: 'example.com', action: 'login' }, ports, NOW),
  ]);
  expect(reasons.map((judgement) => judgement.reason)).toEqual([
    'API.TIMESTAMP_TOO_OLD',
    'API.SITE_KEY_MISMATCH',
    'API.UNAUTHORIZED_ORIGIN_URL',
    'API.ACTION_MISMATCH',
    'API.LEVEL_TOO_LOW',
  ]);
});

test.each(['Example.COM', 'example.com.', 'EXAMPLE.com:8443'])(
  'accepts %s as another spelling of the host name',
  async (hostname) => {
    const { ports } = world();
    expect((await judgeToken(site, 's', { ...question, hostname }, ports, NOW)).verified).toBe(true);
  },
);

test('keeps no response for a request that cannot be repeated, and is not eased unless a rule says so', async () => {
  const answers: string[] = [];
  const { ports } = world();
  const spend: VerifyPorts['spend'] = (request) => {
    answers.push(request.answer);
    return ports.spend(request);
  };
  expect(await judgeToken(site, 's', question, { ...ports, spend }, NOW)).toMatchObject({ eased: false, reason: null });
  expect(answers).toEqual(['']);
  const easing = world({ policy: async () => ({ refusal: null, notEvaluated: [], eased: true }) });
  expect((await judgeToken(site, 's', question, easing.ports, NOW)).eased).toBe(true);
});

test('a refusal by policy does not spend the token', async () => {
  const { calls, ports } = world({ policy: async () => ({ refusal: 'API.TOR_BLOCKED', notEvaluated: ['x'] }) });
  expect(await judgeToken(site, 's', question, ports, NOW)).toMatchObject({
    verified: false,
    reason: 'API.TOR_BLOCKED',
    notEvaluated: ['x'],
  });
  expect(calls).toEqual(['open']);
});

test('does not verify when the ledger fails, and a retry can succeed', async () => {
  const { ports } = world();
  const failing = { ...ports, spend: () => Promise.reject(new Error('ledger down')) };
  await expect(judgeToken(site, 's', question, failing, NOW)).rejects.toThrow('ledger down');
  expect((await judgeToken(site, 's', question, ports, NOW)).verified).toBe(true);
});

test('verifies at most once when the isolate ends between the check and the spend', async () => {
  const { ports } = world();
  const dying = { ...ports, policy: () => Promise.reject(new Error('isolate gone')) };
  await expect(judgeToken(site, 's', question, dying, NOW)).rejects.toThrow();
  const after = [await judgeToken(site, 's', question, ports, NOW), await judgeToken(site, 's', question, ports, NOW)];
  expect(after.map((judgement) => judgement.verified)).toEqual([true, false]);
});

describe('an idempotency key', () => {
  const keyed = { ...question, idempotencyKey: 'k' };

  test('repeats the kept response, even after expiry', async () => {
    const { ports } = world();
    await judgeToken(site, 's', keyed, ports, NOW);
    expect((await judgeToken(site, 's', keyed, ports, NOW)).replay).toBe('{"verified":true}');
    expect((await judgeToken(site, 's', keyed, ports, token.expiresAt)).replay).toBe('{"verified":true}');
  });

  test('repeats nothing for a request that differs in anything', () =>
    expectRows<[string, string, Partial<VerifyQuestion>]>(
      [
        ['another secret', 't', {}],
        ['another key', 's', { idempotencyKey: 'l' }],
        ['no key', 's', { idempotencyKey: null }],
        ['an address', 's', { ip: '192.0.2.1' }],
        ['an email', 's', { email: '' }],
        ['an action', 's', { action: 'login' }],
        ['a level', 's', { level: 0 }],
        ['a host name', 's', { hostname: 'example.com' }],
      ],
      async ([, secret, change]) => {
        const { ports } = world();
        await judgeToken(site, 's', keyed, ports, NOW);
        expect(await judgeToken(site, secret, { ...keyed, ...change }, ports, NOW)).toMatchObject({
          verified: false,
          replay: null,
        });
      },
    ));
});
