/**
 * How often somebody is asked for a challenge whose browser opens no session (it runs no scripts, or a blocker stops the
 * protect script), while neighbours use up the pages that their network has without one.
 */
import { expect, test } from 'vitest';
import { judge } from '../../../src/edge/decide/judge.ts';
import { takeEffects } from '../../../src/edge/gate.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { Pace } from '../../../src/edge/limits/pace.ts';
import { PendingBudget } from '../../../src/edge/limits/pending-budget.ts';
import { clearanceCookie, Clearances, newClearance } from '../../../src/edge/session/clearances.ts';
import { type SessionReading, SessionRenewals } from '../../../src/edge/session/sessions.ts';
import type { EdgeSession } from '../../../src/contract/edge/edge-responses.ts';
import { serviceSaid } from '../../support/service-client.ts';
import { NOW_MS, configOf, factsOf } from './edge-fixture.ts';

const none: SessionReading = { status: 'none', jti: null, riskScore: null, detectors: 0, refresh: null, paid: null };
const DAY_MS = 86_400_000;
const config = await configOf(
  { defaultPathType: 'html', endpointRules: [{ pattern: '/api/**', pathType: 'json' }] },
  {
    detectorWeights: [],
    site: { ...(await configOf()).site, minimumLevel: 0 },
  },
);

interface Reader {
  /** What each challenge costs them. 0: a wait. */
  powDifficulty: number;
  /** Between two pages. */
  everyMs: number;
  /** Forms and calls: every so many pages one of them. */
  formEvery?: number;
  callsOfPage?: number;
  untilMs?: number;
  /** Waits that their network has left. */
  waitsMax?: number;
}

/** Pages, forms and calls that they got, and challenges that they were asked for. */
async function visit({
  powDifficulty,
  everyMs,
  formEvery = 0,
  callsOfPage = 0,
  untilMs = DAY_MS,
  waitsMax = 1,
}: Reader) {
  let nowMs = NOW_MS;
  const ports = { report: null, now: () => nowMs, sleep: async () => {}, count: () => {} };
  const pending = new PendingBudget(new LimitCounts(ports));
  const pace = new Pace(new LimitCounts(ports));
  const renewals = new SessionRenewals({ session: async () => serviceSaid<EdgeSession>(null) }, () => {});
  const clearances = new Clearances(null);
  let cookie = '';
  let asked = 0;
  let got = 0;

  const shown = (path: string) => {
    const read = factsOf(path, { nowMs });
    return clearances.read({ ...read, headers: { ...read.headers, cookie } }, config);
  };
  const request = async (path: string, method: string): Promise<boolean> => {
    const read = factsOf(path, { nowMs });
    const headers = { ...read.headers, method, cookie, accept: 'text/html', fetchDest: 'document' };
    const facts = { ...read, headers };
    const judged = judge({
      facts,
      config,
      path: config.pathPolicy(facts.target, method),
      ruleset: { version: 1, match: () => ({ network: null, client: null, fired: [] }) },
      visitor: { bot: null, session: none, clearance: await clearances.read(facts, config) },
      held: null,
      hasRoom: () => false,
      paceOf: (session, clearance) =>
        pace.read(session, clearance, config.policy.pace, {
          ip: facts.signals.ip,
          key: config.keys.current.address,
          nowMs,
        }),
    });
    return takeEffects(judged, { pending, pace, renewals }, () => {}).verdict.decision === 'allow';
  };
  const passed = async (path: string, method = 'GET'): Promise<void> => {
    if (!(await request(path, method))) {
      asked += 1;
      if (powDifficulty === 0 && asked > waitsMax) return;
      const solved = {
        jti: `c${asked}`,
        level: powDifficulty > 0 ? 1 : 0,
        kind: 'pow',
        powDifficulty,
        eased: false,
      } as const;
      const claims = await newClearance(config, factsOf(path, { nowMs }), solved, await shown(path));
      cookie = (await clearanceCookie(claims, config, nowMs)).split(';', 1)[0]!;
      if (!(await request(path, method))) return;
    }
    got += 1;
  };
  for (let page = 1; nowMs < NOW_MS + untilMs; nowMs += everyMs, page++) {
    await passed('/');
    if (formEvery > 0 && page % formEvery === 0) await passed('/form', 'POST');
    for (let call = 0; call < callsOfPage; call++) await passed('/api/time');
  }
  return { asked, got };
}

test('who waits is asked once a day for a page every forty seconds, forms included', async () => {
  expect(await visit({ powDifficulty: 0, everyMs: 60_000, formEvery: 4 })).toEqual({ asked: 1, got: 1440 + 360 });
  expect(await visit({ powDifficulty: 0, everyMs: 40_000 })).toEqual({ asked: 1, got: 2160 });
});

test('who solves a picture is asked once for a page every two minutes, forms and calls included', async () => {
  const reader = { powDifficulty: 9.5, everyMs: 120_000, formEvery: 5, callsOfPage: 1 };
  expect(await visit(reader)).toEqual({ asked: 1, got: 720 + 144 + 720 });
});

test('whose browser works is asked for the work of three pages at first, and then no more', async () => {
  const first = await visit({ powDifficulty: 5.5, everyMs: 60_000, untilMs: DAY_MS / 24 });
  expect(await visit({ powDifficulty: 5.5, everyMs: 60_000 })).toEqual({ asked: first.asked, got: 1440 });
  expect(first.asked).toBe(7);
});

test('who waits and asks for a page every ten seconds gets fifteen in ten minutes, and three for each wait', async () => {
  const reader = { powDifficulty: 0, everyMs: 10_000, untilMs: 6_000_000 };
  expect((await visit(reader)).got).toBe(15 * 10 + 3);
  expect((await visit({ ...reader, waitsMax: 10 })).got).toBe(15 * 10 + 3 * 10);
});
