/** What the gate reads of a visitor, and from what. */
import { expect, test } from 'vitest';
import { type BotSignal, SUSPECTED_AGENT } from '../../../src/bots/bot-proof.ts';
import { detectorBits } from '../../../src/contract/edge/risk-detectors.ts';
import { knownVisitor } from '../../../src/edge/decide/known-visitor.ts';
import type { Clearances } from '../../../src/edge/session/clearances.ts';
import type { Sessions } from '../../../src/edge/session/sessions.ts';
import { NOW_MS, configOf, factsOf } from './edge-fixture.ts';

const bot = { id: 'examplebot', behaviours: ['search'], proof: 'signature' } as const;
const session = { status: 'active', jti: 'j', riskScore: 0, detectors: 0, refresh: null } as const;
const clearance = { jti: 'c', level: 1, kind: 'pow', powDifficulty: 4, eased: false, learned: null } as const;

async function visited(policy: object = {}, { named = bot as BotSignal | null, detectors = 0 } = {}) {
  const request = new Request('https://site.test/', { headers: { cookie: 'protect_session=j|jwt' } });
  const config = await configOf(policy);
  const asked: { cookie?: string | null; nowMs?: number; spendsNonces?: boolean } = {};
  const sources = {
    bots: {
      read: (_facts: unknown, _waitUntil: unknown, spendsNonces: boolean) => {
        asked.spendsNonces = spendsNonces;
        return named;
      },
    },
    sessions: {
      read: (cookie: string | null, _config: unknown, _signals: unknown, nowMs: number) => {
        Object.assign(asked, { cookie, nowMs });
        return { ...session, detectors };
      },
    } as unknown as Sessions,
    clearances: { read: () => clearance } as unknown as Clearances,
  };
  return { asked, visitor: await knownVisitor(factsOf('/', { request }), config, sources, () => {}) };
}

test('a visitor is a bot, a session and a clearance, each read from the request', async () => {
  const { asked, visitor } = await visited();
  expect(visitor).toEqual({ bot, session, clearance });
  expect(asked).toMatchObject({ cookie: 'protect_session=j|jwt', nowMs: NOW_MS });
});

test('the nonce of a signature is spent where the bot policy lets it count once, and else not', async () => {
  expect((await visited({ botPolicy: { signatures: { nonce: 'once' } } })).asked.spendsNonces).toBe(true);
  expect((await visited({ botPolicy: { signatures: { nonce: 'ignore' } } })).asked.spendsNonces).toBe(false);
});

test('a session that looks operated by a program is a suspected agent, unless the request names a bot', async () => {
  const detectors = detectorBits(['suspected-agent', 'no-interaction']);
  expect((await visited({}, { named: null, detectors })).visitor.bot).toEqual(SUSPECTED_AGENT);
  expect((await visited({}, { named: null, detectors: detectorBits(['no-interaction']) })).visitor.bot).toBeNull();
  expect((await visited({}, { detectors })).visitor.bot).toEqual(bot);
});
