/** The way through without scripts: when it is offered, when it opens, and where it leads. */
import { describe, expect, test } from 'vitest';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { WAIT_SECONDS, WaitLane } from '../../../src/edge/challenge/wait-lane.ts';
import { errorVerdict } from '../../../src/decide/verdict.ts';
import type { RequestFacts } from '../../../src/edge/request/facts.ts';
import { expectRows } from '../../support/rows.ts';
import { serviceThat } from '../../support/service-client.ts';
import { type ContextChanges, contextOf, NOW_MS, signalsOf, waitedClearance } from './edge-fixture.ts';

const READY_MS = NOW_MS + WAIT_SECONDS * 1000;
type Changes = ContextChanges;
/** A site where waiting counts. */
const at = (path: string, policy: object = {}, changes: Changes = {}) =>
  contextOf(path, policy, { site: { minimumLevel: 0 }, ...changes });

async function follow(lane: WaitLane, url: string, nowMs = READY_MS, changes: Changes = {}) {
  const target = canonicalTarget(`https://site.test${url}`)!;
  const facts: Partial<RequestFacts> = { target, nowMs, ...changes.facts };
  const step = await lane.take(await at('/', {}, { ...changes, facts }));
  const { answer, context } = step;
  return {
    kind: answer.kind,
    location: answer.kind === 'redirect' ? answer.location : null,
    waitSeconds: answer.kind === 'redirect' ? answer.waitSeconds : null,
    page: answer.kind === 'message' ? answer.page : null,
    cookies: context.cookies,
    tokenVerified: step.tokenVerified,
  };
}
const linkFor = async (lane: WaitLane, path: string, policy: object = {}) =>
  (await lane.link(await at(path, policy), path))?.url ?? '';
const visitor = (ip: string): Changes => ({ facts: { signals: signalsOf({ ip }) } });
const cleared: Changes = { clearance: waitedClearance };
const atRisk = (riskScore: number): Changes => ({ verdict: { ...errorVerdict('challenge', ''), riskScore } });

describe('the wait link', () => {
  const lane = () => new WaitLane(null);

  test('opens after its wait, sets clearance and leads back to the page', async () => {
    const waiting = lane();
    const opened = await follow(waiting, await linkFor(waiting, '/shop?a=1&b=%2F'));
    expect(opened).toMatchObject({ kind: 'redirect', waitSeconds: 0, tokenVerified: true });
    expect(opened.cookies[0]).toContain('__Host-protect-clearance=');
    const last = await follow(waiting, opened.location ?? '', READY_MS + 50, cleared);
    expect(last.location).toBe('/shop?a=1&b=%2F');
  });

  test('leads to itself again when it is too early', async () => {
    const waiting = lane();
    const early = await follow(waiting, await linkFor(waiting, '/'), NOW_MS + 1000);
    expect(early).toMatchObject({ waitSeconds: 11, cookies: [] });
    expect(early.location).toMatch(/^\/__protect\/wait\?ticket=/);
  });

  test('shows a page and does not loop when the browser keeps no cookie', async () => {
    const waiting = lane();
    const { location } = await follow(waiting, await linkFor(waiting, '/'));
    expect(await follow(waiting, location ?? '')).toMatchObject({ page: 'cookies-off', location: null });
  });

  test('is valid once, for one visitor, for ten minutes', async () => {
    const waiting = lane();
    const url = await linkFor(waiting, '/');
    const refused = { kind: 'message', page: 'send-again' };
    expect(await follow(waiting, url, READY_MS, visitor('203.0.113.1'))).toMatchObject(refused);
    expect(await follow(waiting, url, NOW_MS + 601_000)).toMatchObject(refused);
    expect(await follow(waiting, `${url.slice(0, -4)}AAAA`)).toMatchObject(refused);
    expect(await follow(waiting, url)).toMatchObject({ kind: 'redirect' });
    expect(await follow(waiting, url)).toMatchObject(refused);
  });

  test('only sets clearance where there is no page to continue to', async () => {
    const waiting = lane();
    const link = await waiting.link(await at('/form'), null);
    const opened = await follow(waiting, link?.url ?? '');
    expect(opened.cookies[0]).toContain('__Host-protect-clearance=');
    expect(await follow(waiting, opened.location ?? '', READY_MS, cleared)).toMatchObject({ kind: 'text' });
  });

  test('never leads to another host', async () => {
    const waiting = lane();
    const { location } = await follow(waiting, await linkFor(waiting, '//evil.test/x'));
    const end = (await follow(waiting, location ?? '', READY_MS, cleared)).location ?? '';
    expect(new URL(end, 'https://site.test/__protect/wait').href).toBe('https://site.test//evil.test/x');
  });

  test('is not offered where a wait would not be enough', () =>
    expectRows<[string, object, Changes]>(
      [
        ['the clearance needs a level', { clearanceLevel: 1 }, {}],
        ['the site lets no level 0 count', {}, { site: { minimumLevel: 1 } }],
        ['the site asks for an image', {}, { site: { minimumLevel: 0, captchaType: 'image' } }],
        ['the site asks for a puzzle', {}, { site: { minimumLevel: 0, captchaType: 'puzzle' } }],
        ['the visitor is at risk', {}, atRisk(0.6)],
        [
          'the visitor is at risk by the site’s own threshold',
          {},
          { ...atRisk(0.4), site: { minimumLevel: 0, puzzleFrom: 0.4 } },
        ],
        ['the visitor is at risk by the instance’s threshold', { challengeThreshold: 0.3 }, atRisk(0.3)],
        ['the instance asks for a puzzle', { challengeDifficulty: [{ minScore: 0, captchaType: 'puzzle' }] }, {}],
      ],
      async ([, policy, changes]) => {
        expect(await lane().link(await at('/', policy, changes), '/')).toBeNull();
      },
    ));

  test.each<[string, Changes]>([
    ['risk', atRisk(0.6)],
    ['demand of the site', { site: { minimumLevel: 0, captchaType: 'image' } }],
    ['lowest level of the site', { site: { minimumLevel: 1 } }],
  ])('whose %s rose after it was made leads to a page that says why, and is not used up', async (_, changes) => {
    const waiting = lane();
    const url = await linkFor(waiting, '/');
    const refused = await follow(waiting, url, READY_MS, changes);
    expect(refused).toMatchObject({ kind: 'message', page: 'needs-script', cookies: [] });
    expect(await follow(waiting, url)).toMatchObject({ kind: 'redirect' });
  });

  test('is valid on its own host only', async () => {
    const waiting = lane();
    const url = await linkFor(waiting, '/');
    const elsewhere = { facts: { target: canonicalTarget(`https://other.test${url}`)! } };
    expect(await follow(waiting, url, READY_MS, elsewhere)).toMatchObject({ kind: 'message', page: 'send-again' });
  });

  test('is offered ten times an hour to one network', async () => {
    const waiting = lane();
    const changes = visitor('198.51.100.1');
    let offered = 0;
    for (let index = 0; index < 20; index++) {
      const link = await waiting.link(await at('/', {}, changes), '/');
      if (!link) break;
      offered++;
      await follow(waiting, link.url, READY_MS, changes);
    }
    expect(offered).toBe(10);
    const later = { facts: { ...changes?.facts, nowMs: NOW_MS + 3_700_000 } };
    expect(await waiting.link(await at('/', {}, later), '/')).not.toBeNull();
  });
});

describe('the ledger', () => {
  const asked: string[] = [];
  const ledgerThat = (respond: () => Promise<Response>) => ({
    service: serviceThat((path, body) => {
      asked.push(`${path} ${body}`);
      return respond();
    }),
    count: () => undefined,
  });
  const answering = (taken: unknown, status = 200) => ledgerThat(async () => Response.json({ taken }, { status }));
  async function kindFor(ip: string, ledger: ReturnType<typeof ledgerThat>): Promise<string> {
    const waiting = new WaitLane(ledger);
    const link = await waiting.link(await at('/', {}, visitor(ip)), '/');
    return (await follow(waiting, link?.url ?? '', READY_MS, visitor(ip))).kind;
  }

  test('decides about a ticket by its id, its time of issue and the address', async () => {
    expect(await kindFor('198.51.103.1', answering(false))).toBe('message');
    expect(await kindFor('198.51.103.1', answering(true))).toBe('redirect');
    const [path, body = ''] = asked.at(-1)?.split(' ') ?? [];
    expect([path, JSON.parse(body)]).toEqual([
      '/edge/v1/waits/take',
      { id: expect.any(String), bornAt: NOW_MS, ip: '198.51.103.1' },
    ]);
  });

  test.each([
    ['is down', ledgerThat(() => Promise.reject(new Error('down')))],
    ['fails', answering(undefined, 500)],
    ['returns something else', answering('yes')],
  ])('leaves the decision to the isolate’s own budget when it %s', async (_, ledger) => {
    expect(await kindFor('198.51.104.1', ledger)).toBe('redirect');
  });
});
