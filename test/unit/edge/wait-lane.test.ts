/** The way through without scripts (design 5): when it is offered, when it opens, where it leads. */
import { describe, expect, test } from 'vitest';
import { canonicalTarget } from '../../../src/edge/request/canonical-path.ts';
import {
  WAIT_SECONDS,
  heldWaitSeconds,
  takeHeldWait,
  takeWait,
  waitLink,
} from '../../../src/edge/challenge/wait-lane.ts';
import type { WaitLedger } from '../../../src/edge/challenge/wait-ledger.ts';
import { NOW_MS, passageOf, signalsOf } from './edge-fixture.ts';

const READY_MS = NOW_MS + WAIT_SECONDS * 1000;
async function follow(url: string, nowMs = READY_MS, changes: object = {}, ledger: WaitLedger | null = null) {
  const target = canonicalTarget(`https://site.test${url}`)!;
  const passage = await passageOf('/', {}, { target, nowMs, ...changes });
  return { passage, answer: await takeWait(passage, ledger) };
}
const linkFor = async (path: string, policy: object = {}) => (await waitLink(await passageOf(path, policy)))?.url ?? '';

describe('the wait link', () => {
  test('opens after its time, sets clearance and leads back to the page', async () => {
    const url = await linkFor('/shop?a=1&b=%2F');
    const { answer } = await follow(url);
    expect(answer.status).toBe(303);
    expect(answer.headers.getSetCookie()[0]).toContain('__Host-protect-clearance=');
    expect(answer.headers.get('x-protect-decision')).toBe('allow');
    const kept = answer.headers.get('location')!;
    const last = await follow(kept, READY_MS + 50, { clearance: { jti: 'x', level: 0, learned: null } });
    expect(last.answer.headers.get('location')).toBe('/shop?a=1&b=%2F');
  });

  test('too early it asks to wait on', async () => {
    const { answer } = await follow(await linkFor('/'), NOW_MS + 1000);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('refresh')).toMatch(/^11;url=\/__protect\/wait\?ticket=/);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('where the browser kept no cookie there is a page, not a loop', async () => {
    const { answer } = await follow(await linkFor('/'));
    const { answer: told } = await follow(answer.headers.get('location')!);
    expect([told.status, told.headers.get('location')]).toEqual([403, null]);
  });

  test('is good once, for one visitor, for ten minutes', async () => {
    const url = await linkFor('/');
    expect((await follow(url, READY_MS, { signals: signalsOf({ ip: '203.0.113.1' }) })).answer.status).toBe(400);
    expect((await follow(url, NOW_MS + 601_000)).answer.status).toBe(400);
    expect((await follow(`${url.slice(0, -4)}AAAA`)).answer.status).toBe(400);
    expect((await follow(url)).answer.status).toBe(303);
    expect((await follow(url)).answer.status).toBe(400);
  });

  test('never leads to another host', async () => {
    const { answer } = await follow(await linkFor('//evil.test/x'));
    const last = await follow(answer.headers.get('location')!, READY_MS, {
      clearance: { jti: 'x', level: 0, learned: null },
    });
    expect(last.answer.headers.get('location')).toBe('/evil.test/x');
  });

  test('is not offered where a level is asked for, to visitors at risk, or for a submission', async () => {
    expect(await waitLink(await passageOf('/', { clearanceLevel: 1 }))).toBeNull();
    const risky = await passageOf('/', {}, { verdict: { riskScore: 0.6 } } as never);
    expect(await waitLink(risky)).toBeNull();
    const posted = await passageOf('/', {}, { request: new Request('https://site.test/', { method: 'POST' }) });
    expect(await waitLink(posted)).toBeNull();
  });

  test('runs out for a network that takes too many', async () => {
    const signals = signalsOf({ ip: '198.51.100.1' });
    let offered = 0;
    for (let index = 0; index < 20; index++) {
      const passage = await passageOf('/', {}, { signals });
      const link = await waitLink(passage);
      if (!link) break;
      offered++;
      await follow(link.url, READY_MS, { signals });
    }
    expect(offered).toBe(10);
  });
});

describe('the ledger', () => {
  const asked: string[] = [];
  const ledgerThat = (answer: () => Promise<Response>): WaitLedger =>
    ({
      environment: { rules: { kind: 'service' } },
      service: {
        call(path: string, _timeoutMs: number, body: string) {
          asked.push(`${path} ${body}`);
          return answer();
        },
      },
      count: () => undefined,
    }) as never;
  const answering = (taken: unknown, status = 200) => ledgerThat(async () => Response.json({ taken }, { status }));
  const visitor = (ip: string) => ({ signals: signalsOf({ ip }) });
  async function statusFor(ip: string, ledger: WaitLedger): Promise<number> {
    const link = await waitLink(await passageOf('/', {}, visitor(ip)));
    return (await follow(link?.url ?? '', READY_MS, visitor(ip), ledger)).answer.status;
  }

  test('has the last word on a ticket, told by its id, its birth and the address', async () => {
    expect(await statusFor('198.51.103.1', answering(false))).toBe(400);
    expect(await statusFor('198.51.103.1', answering(true))).toBe(303);
    const [path, body = ''] = asked.at(-1)?.split(' ') ?? [];
    expect([path, JSON.parse(body)]).toEqual([
      '/edge/v1/waits/take',
      { id: expect.any(String), bornAt: NOW_MS, ip: '198.51.103.1' },
    ]);
  });

  test.each([
    ['is down', ledgerThat(() => Promise.reject(new Error('down')))],
    ['fails', answering(undefined, 500)],
    ['talks nonsense', answering('yes')],
  ])('is not waited for, the isolate’s own budget holds, where it %s', async (_, ledger) => {
    expect(await statusFor('198.51.104.1', ledger)).toBe(303);
  });
});

describe('a held submission without scripts', () => {
  const replay = { id: 'seal-1', sealedAtMs: NOW_MS };
  const held = (changes: object = {}, policy: object = {}) =>
    passageOf('/form', policy, { replay, nowMs: READY_MS, signals: signalsOf({ ip: '198.51.103.40' }), ...changes });

  test('passes when it comes back after the wait, and buys what a wait link buys', async () => {
    const passage = await held();
    expect(await takeHeldWait(passage, null)).toBe(true);
    expect(passage.verified).toBe(true);
    expect(passage.cookies[0]).toContain('__Host-protect-clearance=');
  });

  test('does not pass before, nor without a seal, where a level is asked for, or at risk', async () => {
    expect(await takeHeldWait(await held({ nowMs: READY_MS - 1 }), null)).toBe(false);
    expect(await takeHeldWait(await held({ replay: null }), null)).toBe(false);
    expect(await takeHeldWait(await held({}, { clearanceLevel: 1 }), null)).toBe(false);
    expect(await takeHeldWait(await held({ verdict: { riskScore: 0.6 } }), null)).toBe(false);
    expect(heldWaitSeconds(await held({}, { clearanceLevel: 1 }))).toBeNull();
  });

  test('counts against the same budget of its network', async () => {
    const signals = signalsOf({ ip: '198.51.102.1' });
    let passed = 0;
    while (passed < 20 && (await takeHeldWait(await held({ signals }), null))) passed++;
    expect(passed).toBe(10);
    expect(await waitLink(await passageOf('/', {}, { signals }))).toBeNull();
  });
});
