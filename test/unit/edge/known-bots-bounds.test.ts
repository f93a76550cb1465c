/** What reading a bot costs an isolate: which requests ask the service, how much is kept, and which table counts. */
import { beforeEach, describe, expect, test } from 'vitest';
import { encodeBotTable, type ListedBot } from '../../../src/bots/encode-bot-table.ts';
import { openBotTable, type BotTable } from '../../../src/bots/open-bot-table.ts';
import type { Asked } from '../../../src/edge/feed/upstream.ts';
import { ok } from '../../../src/result.ts';
import { ProofMemory } from '../../../src/bots/proof-memory.ts';
import type { BotSignal } from '../../../src/bots/bot-proof.ts';
import { KnownBots } from '../../../src/edge/decide/known-visitor.ts';
import { agentKeyPair, signed } from '../../support/signed-request.ts';
import { NOW_MS, factsOf, signalsOf } from './edge-fixture.ts';

const RANGE = 'https://bots.example/networks.json';
const listed: ListedBot[] = [
  { id: 'rangebot', behaviours: ['search'], patterns: ['rangebot'], tokens: [], ranges: [RANGE], dns: ['@.a.example'] },
  { id: 'namebot', behaviours: ['search'], patterns: ['namebot'], tokens: [], dns: ['@.a.example'] },
  { id: 'signingbot', behaviours: ['agent'], patterns: ['signingbot'], tokens: [], agents: ['https://agent.test'] },
];
const pair = await agentKeyPair();

function tableOf(bots: ListedBot[]): BotTable {
  const networks = new Map([[RANGE, ['157.55.39.0/24']]]);
  const opened = openBotTable(encodeBotTable({ builtAtMs: 1, bots, networks }));
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

let table: BotTable | null;
let bots: KnownBots;
let behind: Promise<unknown>[];
let asked: unknown[];
beforeEach(() => {
  [behind, asked, table] = [[], [], tableOf(listed)];
  const answer = async <Answer>(question: unknown, given: Answer): Promise<Asked<Answer>> => {
    asked.push(question);
    return ok(given);
  };
  const proofs = new ProofMemory({
    keys: (question) => answer(question, { isFetched: true, keys: [pair.key], maxAgeSeconds: 3600 }),
    name: (question) => answer(question, { holds: true, ttlSeconds: 3600 }),
    spendNonce: (question) => answer(question, true),
  });
  bots = new KnownBots(() => table, proofs);
});

const settled = async (): Promise<void> => void (await Promise.all(behind.splice(0)));
const read = (userAgent: string, ip: string, request = new Request('https://shop.example/'), nowMs = NOW_MS) =>
  bots.read(
    factsOf('/', { request, nowMs, signals: signalsOf({ userAgent, ip }) }),
    (work) => void behind.push(work),
    false,
  );
const proofOf = (found: ReturnType<KnownBots['read']>): string | undefined => (found as BotSignal | null)?.proof;
const address = (i: number): string => `198.18.${i >> 8}.${i & 255}`;

describe('a request asks nothing and waits for nothing', () => {
  test('of nobody, and of a bot that its network proves', () => {
    expect(read('Mozilla/5.0', '157.55.39.1')).toBeNull();
    expect(proofOf(read('rangebot', '157.55.39.1'))).toBe('range');
    expect([asked, behind]).toEqual([[], []]);
  });

  test('of a bot whose host name or key is known', async () => {
    void read('namebot', '192.0.2.1');
    const request = await signed(pair, { nowMs: NOW_MS, lifetimeSeconds: 3600 });
    void read('signingbot', '192.0.2.1', request);
    await settled();
    expect(asked).toHaveLength(2);
    // The first check of the signature itself waits for the platform, and for nobody else.
    await read('signingbot', '192.0.2.1', request);
    for (let visit = 0; visit < 100; visit++) {
      expect(proofOf(read('namebot', '192.0.2.1'))).toBe('dns');
      expect(proofOf(read('signingbot', '192.0.2.1', request))).toBe('signature');
    }
    expect([asked.length, behind]).toEqual([2, []]);
  });
});

describe('10,000 addresses with the name of a bot', () => {
  test('are one question each for 200 of them in a minute, and none that is known is asked about again', async () => {
    for (let i = 0; i < 10_000; i++) expect(proofOf(read('namebot', address(i)))).toBe('claimed');
    expect([asked.length, behind.length]).toEqual([200, 200]);
    await settled();
    for (let i = 0; i < 200; i++) expect(proofOf(read('namebot', address(i)))).toBe('dns');
    expect(asked).toHaveLength(200);
  });

  test('over an hour leave 5,000 answers at most, the newest', async () => {
    for (let i = 0; i < 10_000; i++) {
      void read('namebot', address(i), undefined, NOW_MS + Math.floor(i / 150) * 60_001);
      if (i % 150 === 149) await settled();
    }
    await settled();
    expect(asked).toHaveLength(10_000);
    const nowMs = NOW_MS + 67 * 60_001;
    const isKnown = (i: number): boolean => proofOf(read('namebot', address(i), undefined, nowMs)) === 'dns';
    // Newest first, because a look moves what it finds to the young half.
    let known = 0;
    while (known < 10_000 && isKnown(9_999 - known)) known += 1;
    expect(known).toBeGreaterThanOrEqual(2_000);
    expect(known).toBeLessThanOrEqual(5_000);
  });
});

test('a table that changes while a signature is checked counts from the next request on', async () => {
  const request = await signed(pair, { nowMs: NOW_MS, lifetimeSeconds: 3600 });
  void read('signingbot', '192.0.2.1', request);
  await settled();
  const pending = read('signingbot', '192.0.2.1', request);
  table = tableOf([{ ...listed[2]!, id: 'renamed' }]);
  expect((await pending)?.id).toBe('signingbot');
  expect((await read('signingbot', '192.0.2.1', request))?.id).toBe('renamed');
  table = null;
  expect(read('signingbot', '192.0.2.1', request)).toBeNull();
});
