/**
 * Written rows are what the log costs (docs/operations.md). They are counted here as the platform counts them, by the
 * cursors of every statement, so that the figures there stay true.
 */
import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { ROWS_PER_BATCH, ROWS_PER_SEGMENT } from '../../src/cli/cost/usage.ts';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import type { SessionTerms } from '../../src/store/risk-book/rpc.ts';
import { packBatch } from '../../src/store/event-log/client/pack-batch.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import type { RiskBook } from '../../src/store/risk-book/object/risk-book.ts';
import type { VerdictShard } from '../../src/store/event-log/shard/verdict-shard.ts';
import { newSessionId } from '../../src/store/risk-book/session-id.ts';
import { later, testNow } from '../support/clock.ts';
import { captchaCourse } from '../support/captcha-course.ts';
import { seededRandom, variedRecord } from '../support/verdict-record.ts';
import { CHROME, headersOf, reportOf } from '../unit/risk/session-facts.ts';
import type { SpendLedger } from '../../src/store/spend-ledger/object/spend-ledger.ts';
import { writtenBy } from './written-by.ts';

const service = env as ServiceEnv;
const RETENTION = { retentionDays: 30 };
const VERDICTS = 20_000;
const DAY_MS = 86_400_000;

/** Rows written per verdict, of verdicts of half an hour, all by this bot. */
async function writtenPerVerdict(name: string, bot: VerdictRecord['bot'], batch: number): Promise<number> {
  const random = seededRandom(1);
  const shard = service.VERDICT_SHARD.getByName(`verdicts/${name}:0:0`);
  return runInDurableObject(shard, async (instance: VerdictShard, state) => {
    // The newest seconds are never sealed.
    const begin = testNow() - VERDICTS * 85 - 60_000;
    const written = await writtenBy(state, async () => {
      for (let at = 0; at < VERDICTS; at += batch) {
        const rows = Array.from({ length: Math.min(batch, VERDICTS - at) }, (_, index) => {
          const record = variedRecord(name, begin + (at + index) * 85, random, at + index);
          return verdictRow({ ...record, bot }, true);
        });
        const sender = { isolate: 'isolate-1', numbered: at + batch, announced: at + batch, heardAt: begin };
        await instance.append(packBatch(sender, rows, {}), RETENTION);
      }
      await instance.seal();
    });
    expect((await instance.statistics()).sealedRows).toBe(VERDICTS);
    return written / VERDICTS;
  });
}

test('a batch costs one written row to store and none to seal, and a segment less than 380 with its deletion', async () => {
  const name = 'written-rows';
  const shard = service.VERDICT_SHARD.getByName(`verdicts/${name}:0:0`);
  const segments = 3;
  const batch = 40;
  await runInDurableObject(shard, async (instance: VerdictShard, state) => {
    // Sealed by this test alone, and not by the alarm.
    await instance.tune({ hotRowsMax: segments * VERDICTS + 1, segmentRows: VERDICTS });
    const random = seededRandom(1);
    const begin = testNow() - segments * VERDICTS * 85 - 60_000;
    /** Appends a segment's verdicts and seals the oldest segment. The shard holds one more, as it does when it is busy. */
    const turn = (segment: number): Promise<number> =>
      writtenBy(state, async () => {
        for (let at = segment * VERDICTS; at < (segment + 1) * VERDICTS; at += batch) {
          const rows = Array.from({ length: batch }, (_, index) =>
            verdictRow(variedRecord(name, begin + (at + index) * 85, random, at + index), true),
          );
          const sender = { isolate: 'isolate-1', numbered: at + batch, announced: at + batch, heardAt: begin };
          await instance.append(packBatch(sender, rows, {}), RETENTION);
        }
        if (segment > 0) await instance.seal();
      });
    await turn(0);
    // The first turn counts every text for the first time.
    await turn(1);
    const written = await turn(2);
    expect((await instance.statistics()).hotRows).toBe(VERDICTS);
    await instance.seal();
    const texts = state.storage.sql.exec('SELECT 1 FROM rollup_values').toArray().length;
    expect(texts).toBeGreaterThan(0);
    later(60 * DAY_MS);
    const deleted = await writtenBy(state, () => instance.alarm());
    const perSegment = written - (VERDICTS / batch) * ROWS_PER_BATCH + (deleted - texts) / segments;
    expect(perSegment).toBeGreaterThan(0.7 * ROWS_PER_SEGMENT);
    expect(perSegment).toBeLessThan(ROWS_PER_SEGMENT);
    expect(ROWS_PER_BATCH / 30 + ROWS_PER_SEGMENT / VERDICTS).toBeLessThan(0.1);
  });
});

test('bots add a row for each new path that they ask for, and less than six a minute for their counts', async () => {
  const bot = { id: 'googlebot', behaviours: ['search' as const], proof: 'range' as const };
  const none = await writtenPerVerdict('written-rows-without', null, 100);
  const added = ((await writtenPerVerdict('written-rows-bots', bot, 100)) - none) * VERDICTS;
  const paths = 60;
  const minutes = (VERDICTS * 85) / 60_000;
  // A few chunks of keys come out smaller or larger.
  expect(added).toBeGreaterThan(0.9 * paths);
  expect(added).toBeLessThan(paths + 6 * minutes);
});

test('a session costs three written rows: opened, used, and what follows for ten minutes; its expiry costs none', async () => {
  const sessions = 200;
  const book = service.RISK_BOOK.getByName('written-rows/0');
  await runInDurableObject(book, async (instance: RiskBook, state) => {
    const start = testNow();
    const jtis = Array.from({ length: sessions }, () => newSessionId(0, start));
    const at = (jti: string): SessionTerms => ({
      jti,
      visitor: { userAgent: CHROME, ip: '192.0.2.1', network: '192.0.2.0/24', categories: [], headers: headersOf() },
      environment: null,
      neighbours: { near: '192.0.2.0/24', around: '192.0.0.0/16' },
      nowMs: testNow(),
      openedAt: start,
      ignoredDetectors: [],
      expiresAt: start + DAY_MS,
      keptUntil: start + 31 * DAY_MS,
      cycling: { threshold: 1000, windowSeconds: 3600 },
    });
    const none = { addressChanges: 0, userAgentChanges: 0 };
    const each = async (event: (terms: SessionTerms) => Promise<unknown>): Promise<number> =>
      writtenBy(state, async () => {
        for (const jti of jtis) await event(at(jti));
      });
    // The table of a day costs some rows, whatever it holds.
    const first = { ...at(newSessionId(0, start)), openedAt: start };
    expect(await writtenBy(state, () => instance.open(first, 'answer', none))).toBeLessThan(8);
    const opened = await each((terms) => instance.open(terms, 'answer', none));
    later(4000);
    const used = await each((terms) => instance.report(terms, reportOf()));
    later(26_000);
    const waiting = await each((terms) => instance.report(terms, reportOf({ elapsedMs: 30_000, visibleMs: 30_000 })));
    later(4 * 60_000);
    const renewed = await each((terms) => instance.renew(terms));
    later(6 * 60_000);
    const written = await writtenBy(state, async () => {
      // Any event of the book writes some of what has waited.
      for (let event = 0; event < sessions / 50; event++) await instance.crowd(at(jtis[0]!), 1);
    });
    expect({ opened, used, waiting, renewed, written }).toEqual({
      opened: sessions,
      used: sessions,
      waiting: 0,
      renewed: 0,
      written: sessions,
    });
    expect((await instance.read(jtis[0]!))?.telemetry.reports).toBe(2);
    later(33 * DAY_MS);
    expect(await writtenBy(state, () => instance.alarm())).toBeLessThan(8);
    expect(await instance.read(jtis[0]!)).toBeNull();
  });
});

test('a spent token costs one written row and its expiry none, and an attempt less than one in a busy network', async () => {
  const spends = 200;
  const ledger = service.SPEND_LEDGER.getByName('written-rows') as unknown as DurableObjectStub<SpendLedger>;
  await runInDurableObject(ledger, async (instance: SpendLedger, state) => {
    const bornAt = testNow();
    const spendOne = (n: number): Promise<unknown> =>
      instance.spendAll([[`site:${n}`, bornAt, 'question', 'answer', `call-${n}`]]);
    // The first spend makes the table of its ten minutes.
    expect(await writtenBy(state, () => spendOne(-1))).toBeLessThan(6);
    const spent = await writtenBy(state, async () => {
      for (let n = 0; n < spends; n++) await spendOne(n);
    });
    expect(spent).toBe(spends);
    const attempts = await writtenBy(state, async () => {
      for (let n = 0; n < spends; n++) {
        const keys = [`own ${n % 4}`, 'around'];
        await instance.count(keys.map((key, level) => ({ key, limit: [120, 1200][level]!, windowMs: 600_000 })));
      }
    });
    expect(attempts).toBeLessThan(spends / 4);
    later(2 * 3_600_000);
    expect(await writtenBy(state, () => instance.alarm())).toBeLessThan(6);
  });
});

test('a captcha costs less than 0.2 written rows for its three events, when thirty events come in a batch', async () => {
  const captchas = 2000;
  const shard = service.VERDICT_SHARD.getByName('captcha/written-rows:0:0');
  await runInDurableObject(shard, async (instance: VerdictShard, state) => {
    // The captchas of the last hour can still change.
    const begin = testNow() - 2 * 3_600_000;
    const events = Array.from({ length: captchas }, (_, number) => captchaCourse('written-rows', begin, number)).flat();
    const written = await writtenBy(state, async () => {
      for (let at = 0; at < events.length; at += 30) {
        await instance.appendCaptchas(events.slice(at, at + 30), RETENTION);
      }
      await instance.seal();
    });
    expect((await instance.statistics()).sealedRows).toBe(captchas);
    expect(written / captchas).toBeLessThan(0.2);
  });
});
