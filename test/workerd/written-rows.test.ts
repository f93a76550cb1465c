/**
 * Written rows are what the log costs (docs/operations.md). They are counted here as the platform counts them, by the
 * cursors of every statement, so that the figures there stay true.
 */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import type { SessionTerms } from '../../src/store/risk-book/rpc.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import type { RiskBook } from '../../src/store/risk-book/object/risk-book.ts';
import type { VerdictShard } from '../../src/store/event-log/shard/verdict-shard.ts';
import { seededRandom, variedRecord } from '../support/verdict-record.ts';
import { writtenBy } from './written-by.ts';

const service = env as ServiceEnv;
const RETENTION = { retentionDays: 30 };
const VERDICTS = 20_000;

/** Rows written per verdict, of verdicts of half an hour, all by this bot. */
async function writtenPerVerdict(name: string, bot: VerdictRecord['bot']): Promise<number> {
  const batch = 2;
  const random = seededRandom(1);
  const shard = service.VERDICT_SHARD.getByName(`verdicts/${name}:0:0`);
  return runInDurableObject(shard, async (instance: VerdictShard, state) => {
    // The newest seconds are never sealed.
    const begin = Date.now() - VERDICTS * 85 - 60_000;
    const written = await writtenBy(state, async () => {
      for (let at = 0; at < VERDICTS; at += batch) {
        const rows = Array.from({ length: batch }, (_, index) => {
          const record = variedRecord(name, begin + (at + index) * 85, random, at + index);
          return verdictRow({ ...record, bot }, true);
        });
        await instance.append(rows, RETENTION);
      }
      await instance.seal();
    });
    expect((await instance.statistics()).sealedRows).toBe(VERDICTS);
    return written / VERDICTS;
  });
}

test('a verdict costs one written row to store, one to seal, and less than 0.1 for the rest, however small its batch', async () => {
  const written = await writtenPerVerdict('written-rows', null);
  expect(written).toBeGreaterThan(2);
  expect(written).toBeLessThan(2.1);
});

test('bots add a row for each new path that they ask for, and less than six a minute for their counts', async () => {
  const bot = { id: 'googlebot', behaviours: ['search' as const], proof: 'range' as const };
  const none = await writtenPerVerdict('written-rows-without', null);
  const added = ((await writtenPerVerdict('written-rows-bots', bot)) - none) * VERDICTS;
  const paths = 60;
  const minutes = (VERDICTS * 85) / 60_000;
  expect(added).toBeGreaterThan(paths);
  expect(added).toBeLessThan(paths + 6 * minutes);
});

test('a session costs four written rows when it is opened, and one for each change', async () => {
  const book = service.RISK_BOOK.getByName('written-rows/0');
  await runInDurableObject(book, async (instance: RiskBook, state) => {
    const now = Date.now();
    const terms: SessionTerms = {
      jti: '0written-rows',
      visitor: { userAgent: 'Mozilla/5.0', ip: '192.0.2.1', network: '192.0.2.0/24', categories: [], headers: null },
      environment: null,
      neighbours: { near: '192.0.2.0/24', around: '192.0.0.0/16' },
      nowMs: now,
      openedAt: now,
      ignoredDetectors: [],
      expiresAt: now + 86_400_000,
      keptUntil: now + 30 * 86_400_000,
      cycling: { threshold: 5, windowSeconds: 3600 },
    };
    const unchanged = { addressChanges: 0, userAgentChanges: 0 };
    expect(await writtenBy(state, () => instance.open(terms, unchanged))).toBe(4);
    expect(await writtenBy(state, () => instance.renew(terms))).toBe(1);
  });
});
