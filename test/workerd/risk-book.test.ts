/** A risk book over restarts: what it counts, what it keeps, what waits, and what it drops. */
import { runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, test, vi } from 'vitest';
import { addressPrefix, neighboursOf, ownAddress } from '../../src/address/networks.ts';
import { NO_LINEAGE } from '../../src/risk/session-state.ts';
import type { SessionPlace, SessionTerms } from '../../src/store/risk-book/rpc.ts';
import { newSessionId } from '../../src/store/risk-book/session-id.ts';
import type { RiskBook } from '../../src/store/risk-book/object/risk-book.ts';
import { SessionTables, TABLE_ROWS_MAX } from '../../src/store/risk-book/object/session-tables.ts';
import { later, testNow } from '../support/clock.ts';
import { CHROME, headersOf, reportOf } from '../unit/risk/session-facts.ts';

const service = env as ServiceEnv;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

let books = 0;
/** `restarted` runs on the same storage in a new object, as after an eviction. */
async function inBook(
  work: (book: RiskBook, restarted: () => RiskBook, state: DurableObjectState) => Promise<void>,
): Promise<void> {
  const stub = service.RISK_BOOK.getByName(`risk-book/${books++}`);
  await runInDurableObject(stub, async (book: RiskBook, state) => {
    const { constructor } = book as unknown as { constructor: new (s: DurableObjectState, e: unknown) => RiskBook };
    await work(book, () => new constructor(state, env), state);
  });
}

function termsOf(jti: string, ip = '192.0.2.1', openedAt = testNow()): SessionTerms {
  return {
    jti,
    visitor: { userAgent: CHROME, ip, network: addressPrefix(ip), categories: [], headers: headersOf() },
    environment: null,
    neighbours: { near: ownAddress(ip), around: neighboursOf(ip).near },
    nowMs: testNow(),
    openedAt,
    ignoredDetectors: [],
    expiresAt: openedAt + DAY_MS,
    keptUntil: openedAt + 31 * DAY_MS,
    cycling: { threshold: 3, windowSeconds: 3600 },
  };
}
const newTerms = (ip?: string): SessionTerms => termsOf(newSessionId(0, testNow()), ip);

const tablesOf = ({ storage }: DurableObjectState): string[] =>
  storage.sql
    .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name GLOB 'sessions_[0-9]*'")
    .toArray()
    .map(({ name }) => name);

describe('a session', () => {
  test('opens once: by the same answer again as it is, by another not at all', () =>
    inBook(async (book, restarted) => {
      const terms = newTerms();
      const opened = await book.open(terms, 'answer', NO_LINEAGE);
      expect(opened).toMatchObject({ score: 0, expiresAt: terms.expiresAt });
      const repeated = { ...terms, nowMs: terms.nowMs + 1000, expiresAt: terms.expiresAt + 1000 };
      expect(await book.open(repeated, 'answer', NO_LINEAGE)).toEqual(opened);
      expect(await restarted().open(repeated, 'answer', NO_LINEAGE)).toEqual(opened);
      expect(await book.open(terms, 'another', NO_LINEAGE)).toBeNull();
    }));

  test('with one answer of many at the same moment opens for one of them', () =>
    inBook(async (book) => {
      const terms = newTerms();
      const all = await Promise.all(
        Array.from({ length: 100 }, (_, answer) => book.open(terms, `${answer}`, NO_LINEAGE)),
      );
      expect(all.filter((opened) => opened !== null)).toHaveLength(1);
    }));

  test('whose id names no moment is found, listed, ended and dropped like any other', () =>
    inBook(async (book, restarted) => {
      const openedAt = testNow() - MINUTE_MS;
      for (const jti of ['an-older-session', 'f'.repeat(32)]) await book.renew(termsOf(jti, '192.0.2.1', openedAt));
      const again = restarted();
      expect((await again.read('an-older-session'))?.openedAt).toBe(openedAt);
      const query = { minRisk: 0, since: 0, ip: '192.0.2.1', before: null, limit: 10, examinedMax: 100 };
      const { sessions } = await again.list(query, testNow());
      expect(sessions.map(({ jti, at }) => [jti, at])).toEqual([
        ['f'.repeat(32), openedAt],
        ['an-older-session', openedAt],
      ]);
      expect(await again.end('an-older-session', testNow() + DAY_MS)).toBe(true);
      expect(await again.read('an-older-session')).toBeNull();
      expect(await again.end('an-older-session', testNow() + DAY_MS)).toBe(false);
      later(33 * DAY_MS);
      await again.alarm();
      expect(await again.read('f'.repeat(32))).toBeNull();
    }));
});

describe('a restart', () => {
  test('forgets no session of an address, nor that it had input', () =>
    inBook(async (book, restarted) => {
      const open = async (at: RiskBook, ip: string): Promise<SessionTerms> => {
        const terms = newTerms(ip);
        await at.open(terms, 'answer', NO_LINEAGE);
        return terms;
      };
      const person = await open(book, '192.0.2.1');
      for (let visit = 0; visit < 4; visit++) await open(book, '192.0.2.1');
      await open(book, '192.0.2.9');
      later(5000);
      await book.report({ ...person, nowMs: testNow() }, reportOf());
      const again = restarted();
      const { jti } = await open(again, '192.0.2.1');
      const counted = { idleSessions: 4, touchedSessions: 1 };
      expect(await again.read(jti)).toMatchObject(counted);
      const larger = newTerms('192.0.2.1');
      await again.open({ ...larger, cycling: { threshold: 3, windowSeconds: 7200 } }, 'answer', NO_LINEAGE);
      expect(await again.read(larger.jti)).toMatchObject({ ...counted, idleSessions: 5 });
    }));

  test('keeps a score that rose, and forgets reports of the last ten minutes that changed none', () =>
    inBook(async (book, restarted) => {
      const terms = newTerms();
      await book.open(terms, 'answer', NO_LINEAGE);
      later(5000);
      const event = (): SessionTerms => ({ ...terms, nowMs: testNow() });
      await book.report(event(), reportOf());
      await book.report(event(), reportOf());
      expect(await book.read(terms.jti)).toMatchObject({ telemetry: { reports: 2, touched: true } });
      expect(await restarted().read(terms.jti)).toMatchObject({ telemetry: { reports: 1, touched: true } });
      await book.report(event(), reportOf({ traits: ['webdriver'] }));
      expect(await restarted().read(terms.jti)).toMatchObject({ score: 0.5, telemetry: { reports: 3 } });
      await book.renew(event());
      later(10 * MINUTE_MS);
      await book.crowd({ ...newTerms(), jti: terms.jti }, 1);
      expect(await restarted().read(terms.jti)).toMatchObject({ renewals: 1 });
    }));

  test('loses nothing of an object that was quiet for ten seconds', async () => {
    const terms = newTerms();
    const stub = service.RISK_BOOK.getByName(`risk-book/quiet`);
    const timers: (() => void)[] = [];
    await runInDurableObject(stub, async (book: RiskBook, state) => {
      const timer = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((done: () => void, ms: number) => {
        expect(ms).toBe(10_000);
        return timers.push(done);
      }) as unknown as typeof setTimeout);
      await book.open(terms, 'answer', NO_LINEAGE);
      await book.renew(terms);
      timer.mockRestore();
      timers.at(-1)?.();
      const { constructor } = book as unknown as { constructor: new (s: DurableObjectState, e: unknown) => RiskBook };
      expect(await new constructor(state, env).read(terms.jti)).toMatchObject({ renewals: 1 });
    });
  });
});

describe('the tables', () => {
  test('begin with each day and when one is full, and every session is found in its own', () =>
    inBook(async (book, restarted, state) => {
      const yesterday = Math.floor(testNow() / DAY_MS) * DAY_MS - DAY_MS;
      const asked = [5, 1, 9, DAY_MS + 3, 2, DAY_MS + 1].map((ms) => yesterday + ms);
      const jtis: string[] = [];
      for (const at of asked) {
        const terms = termsOf(newSessionId(0, at), '192.0.2.1', at);
        jtis.push(terms.jti);
        await book.open(terms, 'answer', NO_LINEAGE);
      }
      expect(tablesOf(state)).toHaveLength(2);
      for (const jti of jtis) expect(await restarted().read(jti), jti).not.toBeNull();

      // A table that is full takes only what is older than its newest session.
      const tables = new SessionTables(state.storage.sql);
      tables.at(yesterday)!.rows = TABLE_ROWS_MAX;
      const until = yesterday + 31 * DAY_MS;
      expect(tables.toWrite(yesterday + 8, until).start).toBe(yesterday);
      expect(tables.toWrite(yesterday + 10, until).start).toBe(yesterday + 10);
      expect(tables.at(yesterday + 9)?.start).toBe(yesterday);
    }));

  test('go oldest first when the book is full', () =>
    inBook(async (_book, _restarted, { storage }) => {
      const tables = new SessionTables(storage.sql);
      const day = Math.floor(testNow() / DAY_MS) * DAY_MS;
      for (let table = 0; table < 25; table++) {
        tables.toWrite(day + table * DAY_MS, day + 60 * DAY_MS).rows = TABLE_ROWS_MAX;
      }
      const starts = new SessionTables(storage.sql).newestFirst().map(({ start }) => (start - day) / DAY_MS);
      expect(starts).toEqual(Array.from({ length: 20 }, (_, back) => 24 - back));
    }));

  test('are dropped as soon as no session of their day is kept', () =>
    inBook(async (book, _restarted, state) => {
      const terms = newTerms();
      await book.open(terms, 'answer', NO_LINEAGE);
      later(terms.keptUntil - testNow());
      expect(await book.read(terms.jti)).toBeNull();
      later(DAY_MS + 3_600_000);
      await book.alarm();
      expect(tablesOf(state)).toEqual([]);
    }));
});

test('a page of one address passes over sessions of other networks and has every session of its own once', () =>
  inBook(async (book, _restarted, state) => {
    const start = Math.floor(testNow() / DAY_MS) * DAY_MS;
    const wanted: string[] = [];
    for (const ms of [7, 6000, 12_000, 12_001, 24_000]) {
      const terms = termsOf(newSessionId(0, start + ms), '192.0.2.1', start + ms);
      wanted.push(terms.jti);
      await book.open(terms, 'answer', NO_LINEAGE);
    }
    const [table] = tablesOf(state);
    state.storage.sql.exec(
      `WITH RECURSIVE ms(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM ms WHERE n < 24999)
       INSERT INTO ${table} SELECT ?1 + n, n, '198.51.100.7/32', '198.51.100.0/24', opened_at, kept_until, idle, opening, state
       FROM ms, (SELECT * FROM ${table} LIMIT 1)`,
      start,
    );
    const asAnEarlierReleaseStored = `UPDATE ${table} SET near = '192.0.2.0/24', around = '192.0.0.0/16' WHERE jti = ?`;
    state.storage.sql.exec(asAnEarlierReleaseStored, wanted[1]);
    const seen: string[] = [];
    let before: SessionPlace | null = null;
    do {
      const query = { minRisk: 0, since: 0, ip: '192.0.2.1', before, limit: 2, examinedMax: 3 };
      const page = await book.list(query, testNow());
      expect(page.sessions.length).toBeLessThanOrEqual(2);
      seen.push(...page.sessions.map(({ jti }) => jti));
      before = page.next;
    } while (before !== null);
    expect(seen).toEqual(wanted.toReversed());
  }));

test('a book of a deleted instance is empty after its alarm', () =>
  inBook(async (book, restarted) => {
    const terms = newTerms();
    await book.open(terms, 'answer', NO_LINEAGE);
    await book.retire(testNow());
    later(2 * MINUTE_MS);
    await book.alarm();
    expect(await restarted().read(terms.jti)).toBeNull();
    expect(await book.open(terms, 'another', NO_LINEAGE)).not.toBeNull();
  }));
