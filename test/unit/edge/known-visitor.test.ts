/** What the gate reads of a visitor, and from what. */
import { expect, test } from 'vitest';
import { knownVisitor } from '../../../src/edge/decide/known-visitor.ts';
import type { Clearances } from '../../../src/edge/session/clearances.ts';
import type { Sessions } from '../../../src/edge/session/sessions.ts';
import { NOW_MS, configOf, factsOf } from './edge-fixture.ts';

const bot = { id: 'examplebot', behaviours: ['search'], proof: 'signature' } as const;
const session = { status: 'active', jti: 'j', riskScore: 0, detectors: 0, refresh: null } as const;
const clearance = { jti: 'c', level: 1, kind: 'pow', powDifficulty: 4, eased: false, learned: null } as const;

async function visited(policy: object = {}) {
  const request = new Request('https://site.test/', { headers: { cookie: 'protect_session=j|jwt' } });
  const config = await configOf(policy);
  const asked: { cookie?: string | null; nowMs?: number; spendsNonces?: boolean } = {};
  const sources = {
    bots: {
      read: (_facts: unknown, _waitUntil: unknown, spendsNonces: boolean) => {
        asked.spendsNonces = spendsNonces;
        return bot;
      },
    },
    sessions: {
      read: (cookie: string | null, _config: unknown, _signals: unknown, nowMs: number) => {
        Object.assign(asked, { cookie, nowMs });
        return session;
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
