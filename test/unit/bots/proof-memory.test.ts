/** What an isolate knows of bots' proofs: nobody waits, and the next request knows. */
import { beforeEach, describe, expect, test } from 'vitest';
import { ProofMemory } from '../../../src/bots/proof-memory.ts';
import type { BotKeys, BotNameAnswer } from '../../../src/contract/edge/bot-calls.ts';
import type { Asked } from '../../../src/edge/feed/upstream.ts';
import { DIRECTORY_PATH } from '../../../src/bots/signatures/agent-address.ts';
import { outcomeWord } from '../../support/outcome-word.ts';
import { serviceSaid } from '../../support/service-client.ts';
import { agentKeyPair, signed, type AgentKeyPair } from '../../support/signed-request.ts';

const NOW_MS = 1_800_000_000_000;
const IP = '66.249.66.1';
const seconds = (count: number): number => NOW_MS + count * 1000;

let memory: ProofMemory;
let asked: unknown[];
let behind: Promise<unknown>[];
/** `null`: the service gives no answer. */
let keysAnswer: BotKeys | null;
let nameAnswer: BotNameAnswer | null;

beforeEach(() => {
  [asked, behind] = [[], []];
  const answer = async <Answer>(question: unknown, given: Answer | null): Promise<Asked<Answer>> => {
    asked.push(question);
    return serviceSaid(given);
  };
  memory = new ProofMemory({
    keys: (question) => answer(question, keysAnswer),
    name: (question) => answer(question, nameAnswer),
    spendNonce: (question) => answer(question, true),
  });
});

const waitUntil = (work: Promise<unknown>): void => void behind.push(work);
const settled = async (): Promise<void> => void (await Promise.all(behind.splice(0)));
const name = (nowMs: number, ip = IP): boolean | null => memory.name('googlebot', ip, nowMs, waitUntil);

describe('a signature', () => {
  let pair: AgentKeyPair;
  let request: Request;
  const word = async (nowMs: number) => outcomeWord(await memory.signature(request, nowMs, waitUntil));

  beforeEach(async () => {
    pair = await agentKeyPair();
    request = await signed(pair, { nowMs: NOW_MS, lifetimeSeconds: 3600 });
    keysAnswer = { isFetched: true, keys: [pair.key], maxAgeSeconds: 600 };
  });

  test('of an unknown agent waits for nothing, and the next one is verified', async () => {
    const first = memory.signature(request, NOW_MS, waitUntil);
    expect(first).toMatchObject({ outcome: 'unverified', reason: 'keys-unknown' });
    expect(behind).toHaveLength(1);
    await settled();
    expect(asked).toEqual([{ agent: `https://agent.test${DIRECTORY_PATH}`, keyid: pair.keyid }]);
    expect(await word(NOW_MS)).toBe('verified');
    expect(behind).toEqual([]);
  });

  test('is asked about once by many requests at the same time', () => {
    for (let visit = 0; visit < 100; visit++) void memory.signature(request, NOW_MS, waitUntil);
    expect(asked).toHaveLength(1);
  });

  test('stays verified while keys are fetched anew, and while the service gives no answer', async () => {
    await word(NOW_MS);
    await settled();
    keysAnswer = null;
    expect([await word(seconds(500)), asked.length]).toEqual(['verified', 2]);
    await settled();
    expect(await word(seconds(700))).toBe('verified');
  });
});

describe('an address', () => {
  test('is undecided at first, and known to the next request', async () => {
    nameAnswer = { holds: true, ttlSeconds: 600 };
    expect([name(NOW_MS), name(NOW_MS)]).toEqual([null, null]);
    await settled();
    expect(asked).toEqual([{ bot: 'googlebot', ip: IP }]);
    expect(name(seconds(1))).toBe(true);
  });

  test('that was refused is remembered as refused', async () => {
    nameAnswer = { holds: false, ttlSeconds: 600 };
    name(NOW_MS);
    await settled();
    expect([name(seconds(1)), asked.length]).toEqual([false, 1]);
  });

  test('is looked up again before the answer ends, and undecided after it', async () => {
    nameAnswer = { holds: true, ttlSeconds: 600 };
    name(NOW_MS);
    await settled();
    nameAnswer = null;
    expect([name(seconds(440)), asked.length]).toEqual([true, 1]);
    expect([name(seconds(460)), asked.length]).toEqual([true, 2]);
    await settled();
    expect([name(seconds(599)), name(seconds(601))]).toEqual([true, null]);
  });

  test('without an answer is asked about once a minute', async () => {
    nameAnswer = null;
    for (const at of [0, 10, 59, 60]) {
      name(seconds(at));
      await settled();
    }
    expect(asked).toHaveLength(2);
  });

  test('is one of at most 200 in a minute that are asked about', () => {
    nameAnswer = { holds: false, ttlSeconds: 600 };
    for (let index = 0; index < 1000; index++) name(NOW_MS, `192.0.2.${index}`);
    expect(asked).toHaveLength(200);
  });
});
