/**
 * Written rows are what the log costs (docs/operations.md). They are counted here as the platform counts them, by the
 * cursors of every statement, so that the figures there stay true.
 */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import type { SessionTerms } from '../../src/store/risk-book/rpc.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import type { RiskBook } from '../../src/store/risk-book/object/risk-book.ts';
import type { VerdictShard } from '../../src/store/event-log/shard/verdict-shard.ts';
import { seededRandom, variedRecord } from '../support/verdict-record.ts';
import { writtenBy } from './written-by.ts';

const service = env as ServiceEnv;
const RETENTION = { retentionDays: 30 };

test('a verdict costs one written row to store, one to seal, and less than 0.1 for the rest, however small its batch', async () => {
  const verdicts = 20_000;
  const batch = 2;
  const random = seededRandom(1);
  const shard = service.VERDICT_SHARD.getByName('verdicts/written-rows:0:0');
  await runInDurableObject(shard, async (instance: VerdictShard, state) => {
    // The newest seconds are never sealed.
    const begin = Date.now() - verdicts * 85 - 60_000;
    const written = await writtenBy(state, async () => {
      for (let at = 0; at < verdicts; at += batch) {
        const rows = Array.from({ length: batch }, (_, index) =>
          verdictRow(variedRecord('written-rows', begin + (at + index) * 85, random, at + index), true),
        );
        await instance.append(rows, RETENTION);
      }
      await instance.seal();
    });
    expect((await instance.statistics()).sealedRows).toBe(verdicts);
    expect(written / verdicts).toBeGreaterThan(2);
    expect(written / verdicts).toBeLessThan(2.1);
  });
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
