/** The RuleBook in workerd: one writer, versions, deltas, bases in R2, and recovery after a crash. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, test } from 'vitest';
import { failed, ok } from '../../src/result.ts';
import type { RuleBook } from '../../src/store/rule-book/object/rule-book.ts';
import { HISTORY_MAX_VERSIONS, lastVersionWithin } from '../../src/store/rule-book/object/change-log.ts';
import type { RulePageQuery, WriteAuthor } from '../../src/store/rule-book/rpc.ts';
import { rulePage } from '../../src/store/rule-book/client.ts';
import type { RuleWrite } from '../../src/store/rule-book/rule-row.ts';
import { firedFor, loadedByAnEdge, ruleBookStub } from './rule-book-loaded.ts';
import { testNow } from '../support/clock.ts';

const serviceEnv = env as ServiceEnv;
const nowMs = Date.UTC(2026, 10, 20);
const author: WriteAuthor = { nowMs, actor: 'key-1', kind: 'create' };
let instances = 0;

function newBook(): { id: string; book: DurableObjectStub<RuleBook> } {
  instances += 1;
  const id = `instance-${instances}`;
  return { id, book: ruleBookStub(id) };
}

function rule(value: string, verdict: RuleWrite['verdict'] = 'block', more: Partial<RuleWrite> = {}): RuleWrite {
  return { type: 'ip', value, verdict, ...more };
}

function addresses(count: number): RuleWrite[] {
  return Array.from({ length: count }, (_, i) => rule(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`));
}

describe('writing', () => {
  test('an applied batch is one version', async () => {
    const { book } = newBook();
    expect(await book.upsert([rule('192.0.2.1'), rule('192.0.2.2')], author)).toMatchObject(
      ok({ version: 1, created: 2, updated: 0, deleted: 0 }),
    );
    const first = [
      { value: '192.0.2.2', before: { verdict: 'block' }, after: { verdict: 'allow' } },
      { value: '192.0.2.3', before: null, after: { verdict: 'block' } },
    ];
    expect(await book.upsert([rule('192.0.2.2', 'allow'), rule('192.0.2.3')], author)).toMatchObject(
      ok({ version: 2, created: 1, updated: 1, first }),
    );
  });

  test('a batch that changes nothing makes no version', async () => {
    const { book } = newBook();
    const rules = [rule('192.0.2.1', 'block', { note: 'scraper', rollout: 12.5, expiry: 1_900_000_000 })];
    await book.upsert(rules, author);
    expect(await book.upsert(rules, { ...author, actor: 'key-2', nowMs: nowMs + 1 })).toMatchObject(
      ok({ version: 1, created: 0, updated: 0 }),
    );
    expect(await book.remove([{ type: 'ip', value: '198.51.100.1' }], author)).toMatchObject(
      ok({ version: 1, deleted: 0 }),
    );
  });

  test('replacing a rule keeps its creator and records who changed it', async () => {
    const { book } = newBook();
    await book.upsert([rule('192.0.2.1')], author);
    await book.upsert([rule('192.0.2.1', 'allow')], { ...author, actor: 'key-2', nowMs: nowMs + 5 });
    const { rules } = await rulePage(book, { limit: 10 });
    expect(rules).toEqual([
      {
        ...rule('192.0.2.1', 'allow'),
        createdAt: nowMs,
        createdBy: 'key-1',
        updatedAt: nowMs + 5,
        updatedBy: 'key-2',
      },
    ]);
  });

  test('of a rule that is twice in one batch, the later one counts', async () => {
    const { book } = newBook();
    expect(await book.upsert([rule('192.0.2.1', 'allow'), rule('192.0.2.1', 'block')], author)).toMatchObject(
      ok({ created: 1 }),
    );
    expect((await rulePage(book, { limit: 10 })).rules).toMatchObject([{ verdict: 'block' }]);
  });

  test('parallel batches each get their own version', async () => {
    const { book } = newBook();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => book.upsert([rule(`192.0.2.${i}`)], author)),
    );
    const versions = outcomes.map((outcome) => (outcome.ok ? outcome.value.version : 0));
    expect(versions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  test('10,000 rules with long notes are accepted in one batch', async () => {
    const { book } = newBook();
    const rules = addresses(10_000).map((one) => ({ ...one, note: 'n'.repeat(300) }));
    expect(await book.upsert(rules, author)).toMatchObject(ok({ version: 1, created: 10_000 }));
    expect((await rulePage(book, { limit: 1 })).total).toBe(10_000);
  });
});

describe('listing', () => {
  test('pages list every rule once, in key order, with exact totals', async () => {
    const { book } = newBook();
    await book.upsert(addresses(250), author);
    await book.upsert(
      [
        { type: 'ipMask', value: '10.0.0.0/8', verdict: 'allow' },
        { type: 'asn', value: '64496', verdict: 'challenge' },
        { type: 'userAgent', value: 'curl/', verdict: 'block' },
      ],
      author,
    );
    const seen: string[] = [];
    let after: { type: RuleWrite['type']; value: string } | undefined;
    for (let round = 0; round < 10; round += 1) {
      const page = await rulePage(book, { limit: 60, ...(after ? { after } : {}) });
      expect(page.total).toBe(253);
      seen.push(...page.rules.map((one) => `${one.type}:${one.value}`));
      const last = page.rules.at(-1);
      if (!last || page.rules.length < 60) break;
      after = { type: last.type, value: last.value };
    }
    expect(seen).toHaveLength(253);
    expect(new Set(seen).size).toBe(253);
    expect(seen.slice(-3)).toEqual(['ipMask:10.0.0.0/8', 'asn:64496', 'userAgent:curl/']);
  });

  test('filters by type, verdict and start of the value', async () => {
    const { book } = newBook();
    await book.upsert(
      [
        rule('192.0.2.1', 'allow'),
        rule('192.0.2.2', 'block'),
        rule('198.51.100.1', 'block'),
        { type: 'asn', value: '19200', verdict: 'block' },
        { type: 'countryCode', value: 'NL', verdict: 'challenge' },
      ],
      author,
    );
    const values = async (filter: RulePageQuery) => {
      const page = await rulePage(book, filter);
      expect(page.total).toBe(page.rules.length);
      return page.rules.map((one) => one.value);
    };
    expect(await values({ limit: 10, verdict: 'block' })).toEqual(['192.0.2.2', '198.51.100.1', '19200']);
    expect(await values({ limit: 10, type: 'ip' })).toEqual(['192.0.2.1', '192.0.2.2', '198.51.100.1']);
    expect(await values({ limit: 10, valuePrefix: '192' })).toEqual(['192.0.2.1', '192.0.2.2', '19200']);
    expect(await values({ limit: 10, type: 'asn', valuePrefix: 'AS192' })).toEqual(['19200']);
    expect(await values({ limit: 10, valuePrefix: 'n' })).toEqual(['NL']);
  });
});

describe('base and delta', () => {
  test('an empty book has a valid signed base', async () => {
    const { id, book } = newBook();
    const version = await book.currentVersion();
    expect(version.base.version).toBe(0);
    expect(version.delta.version).toBe(0);
    expect(await serviceEnv.RULESETS.head(`rulesets/${id}/${version.base.hash}`)).not.toBeNull();
  });

  test('a write changes the version at once, over the same base', async () => {
    const { book } = newBook();
    const { base } = await book.currentVersion();
    await book.upsert([rule('192.0.2.1')], author);
    expect(await book.currentVersion()).toEqual({ base, delta: { version: 1 } });
    expect(await book.delta(base.hash, 1)).toBeInstanceOf(Uint8Array);
  });

  test('a delta of an unknown base or version is refused', async () => {
    const { book } = newBook();
    const { base } = await book.currentVersion();
    expect(await book.delta(base.hash, 1)).toBeNull();
    expect(await book.delta('0'.repeat(64), 0)).toBeNull();
  });

  test('many changes start the compile of a new base, and the old base keeps its deltas', async () => {
    const { id, book } = newBook();
    const first = (await book.currentVersion()).base;
    await book.upsert(addresses(2500), author);
    expect(await runDurableObjectAlarm(book)).toBe(true);
    const { base, delta } = await book.currentVersion();
    expect(base.version).toBe(1);
    expect(base.hash).not.toBe(first.hash);
    expect(delta.version).toBe(1);
    await book.upsert([rule('192.0.2.1')], author);
    expect(await book.delta(first.hash, 2)).toBeInstanceOf(Uint8Array);
    expect(await book.delta(base.hash, 2)).toBeInstanceOf(Uint8Array);
    expect(await serviceEnv.RULESETS.head(`rulesets/${id}/${first.hash}`)).not.toBeNull();
  });

  test('single changes start the compile of a new base once their deltas add up to its size', async () => {
    const { book } = newBook();
    await book.currentVersion();
    const dueIn = () =>
      runInDurableObject(book, async (_, { storage }) => ((await storage.getAlarm()) ?? 0) - testNow());
    await book.upsert(addresses(1000), author);
    expect(await dueIn()).toBeLessThan(0);
    for (let i = 0; i < 150; i += 1) await book.upsert([rule(`192.0.2.${i}`)], author);
    expect(await dueIn()).toBeLessThan(0);
    for (let i = 0; i < 40; i += 1) await book.upsert([rule(`198.51.100.${i}`)], author);
    const soon = await dueIn();
    expect(soon).toBeGreaterThan(0);
    expect(soon).toBeLessThan(2000);
  });

  test('an edge loads the stored rules after additions, replacements and deletions, over either base', async () => {
    const { id, book } = newBook();
    await book.upsert([rule('192.0.2.1'), rule('192.0.2.2'), rule('192.0.2.3', 'allow')], author);
    await book.compile();
    await book.remove([{ type: 'ip', value: '192.0.2.1' }], author);
    await book.upsert([rule('192.0.2.2', 'allow'), rule('192.0.2.4')], author);
    for (const step of ['over the old base', 'over a new base']) {
      const ruleset = await loadedByAnEdge(id, book);
      expect(ruleset.version, step).toBe(3);
      expect(ruleset.ruleCount, step).toBe(3);
      expect(firedFor(ruleset, '192.0.2.1'), step).toEqual([]);
      expect(firedFor(ruleset, '192.0.2.2'), step).toEqual(['ip:192.0.2.2 allow']);
      expect(firedFor(ruleset, '192.0.2.4'), step).toEqual(['ip:192.0.2.4 block']);
      await book.compile();
    }
  });

  test('writes during a compile are neither lost nor applied twice', async () => {
    const { id, book } = newBook();
    for (const part of [0, 1, 2, 3]) {
      await book.upsert(
        addresses(10_000).map((one) => ({ ...one, value: one.value.replace(/^10\./, `1${part}.`) })),
        author,
      );
    }
    const compiling = book.compile();
    // One before and one after the reading position, and one deleted.
    const writes = await Promise.all([
      book.upsert([rule('10.0.0.1', 'allow'), rule('9.9.9.9')], author),
      book.upsert([rule('13.0.0.1', 'allow'), rule('99.9.9.9')], author),
      book.remove([{ type: 'ip', value: '12.0.0.7' }], author),
    ]);
    expect(writes.every((outcome) => outcome.ok)).toBe(true);
    await compiling;
    for (const step of ['after that compile', 'after the next']) {
      const ruleset = await loadedByAnEdge(id, book);
      expect(ruleset.ruleCount, step).toBe(40_001);
      expect(firedFor(ruleset, '10.0.0.1'), step).toEqual(['ip:10.0.0.1 allow']);
      expect(firedFor(ruleset, '13.0.0.1'), step).toEqual(['ip:13.0.0.1 allow']);
      expect(firedFor(ruleset, '9.9.9.9'), step).toHaveLength(1);
      expect(firedFor(ruleset, '99.9.9.9'), step).toHaveLength(1);
      expect(firedFor(ruleset, '12.0.0.7'), step).toEqual([]);
      await book.compile();
    }
  });

  test('an expired rule leaves the next base and stays listed', async () => {
    const { id, book } = newBook();
    await book.upsert([rule('192.0.2.1', 'block', { expiry: 1_600_000_000 }), rule('192.0.2.2')], author);
    await book.compile();
    expect((await loadedByAnEdge(id, book)).ruleCount).toBe(1);
    expect((await rulePage(book, { limit: 10 })).total).toBe(2);
  });

  test('replaced bases are deleted in the end', async () => {
    const { id, book } = newBook();
    for (let i = 0; i < 12; i += 1) {
      await book.upsert([rule(`192.0.2.${i}`)], author);
      await book.compile();
    }
    const { objects } = await serviceEnv.RULESETS.list({ prefix: `rulesets/${id}/` });
    expect(objects.length).toBeGreaterThan(2);
    expect(objects.length).toBeLessThanOrEqual(10);
  });

  test('a file that a crash left between writing and publishing is deleted by the next compile', async () => {
    const { id, book } = newBook();
    await book.currentVersion();
    const orphan = 'a'.repeat(64);
    await serviceEnv.RULESETS.put(`rulesets/${id}/${orphan}`, 'half');
    await runInDurableObject(book, (_, state) => {
      state.storage.sql.exec(
        "INSERT INTO bases (hash, version, rules, bytes, state, created_at) VALUES (?, 0, 0, 4, 'pending', 0)",
        orphan,
      );
    });
    await evictDurableObject(book);
    expect(await book.delta(orphan, 0)).toBeNull();
    await book.upsert([rule('192.0.2.1')], author);
    await book.compile();
    expect(await serviceEnv.RULESETS.head(`rulesets/${id}/${orphan}`)).toBeNull();
    expect((await book.currentVersion()).base.version).toBe(1);
  });

  test('a base of an earlier file format is not served; it is compiled again', async () => {
    const { id, book } = newBook();
    await book.upsert([rule('192.0.2.1')], author);
    await book.compile();
    const { base: earlier } = await book.currentVersion();
    await runInDurableObject(book, (_, state) => {
      state.storage.sql.exec("UPDATE bases SET hash = ?, state = 'ready'", 'b'.repeat(64));
    });
    expect(await book.delta('b'.repeat(64), 1)).toBeNull();
    expect((await book.currentVersion()).base).toMatchObject({ version: earlier.version });
    expect(firedFor(await loadedByAnEdge(id, book), '192.0.2.1')).toEqual(['ip:192.0.2.1 block']);
  });

  test('the book is unchanged after an eviction', async () => {
    const { book } = newBook();
    await book.upsert(addresses(3), author);
    const before = await book.currentVersion();
    await evictDurableObject(book);
    expect(await book.currentVersion()).toEqual(before);
    expect((await rulePage(book, { limit: 10 })).rules).toHaveLength(3);
  });
});

describe('history', () => {
  test('lists who changed what, newest first', async () => {
    const { book } = newBook();
    await book.upsert(addresses(3), author);
    await book.remove([{ type: 'ip', value: '10.0.0.1' }], { nowMs: nowMs + 1, actor: 'key-2', kind: 'delete' });
    expect(await book.history(10, null)).toEqual({
      version: 2,
      oldest: 0,
      versions: [
        { version: 2, at: nowMs + 1, by: 'key-2', kind: 'delete', created: 0, updated: 0, deleted: 1 },
        { version: 1, at: nowMs, by: 'key-1', kind: 'create', created: 3, updated: 0, deleted: 0 },
      ],
    });
  });

  test('a rollback restores exactly the rules of that version, as a new version', async () => {
    const { book } = newBook();
    await book.upsert([rule('192.0.2.1', 'block', { note: 'a', rollout: 50 }), rule('192.0.2.2')], author);
    const before = (await rulePage(book, { limit: 10 })).rules;
    await book.upsert([rule('192.0.2.1', 'allow'), rule('192.0.2.3')], { ...author, nowMs: nowMs + 1 });
    await book.remove([{ type: 'ip', value: '192.0.2.2' }], { ...author, nowMs: nowMs + 2 });
    const outcome = await book.rollback(1, { nowMs: nowMs + 3, actor: 'key-9', kind: 'rollback' });
    expect(outcome).toMatchObject(ok({ version: 4, created: 1, updated: 1, deleted: 1 }));
    const page = await rulePage(book, { limit: 10 });
    expect(page.rules).toEqual(before);
    expect(page.total).toBe(2);
    expect((await book.history(1, null)).versions).toMatchObject([{ kind: 'rollback', restores: 1 }]);
  });

  test('a version that is not kept cannot be restored', async () => {
    const { book } = newBook();
    await book.upsert(addresses(1), author);
    expect(await book.rollback(7, author)).toEqual(failed({ reason: 'out-of-reach', oldest: 0, newest: 1 }));
  });

  test('is bounded: a compile deletes the oldest versions, and they cannot be restored', async () => {
    const { book } = newBook();
    await book.upsert(addresses(1), author);
    await runInDurableObject(book, (_, { storage }) => {
      for (let version = 2; version <= HISTORY_MAX_VERSIONS + 100; version += 1) {
        storage.sql.exec(
          "INSERT INTO versions (version, at, actor, kind, created, updated, deleted) VALUES (?, 0, 1, 'create', 0, 0, 0)",
          version,
        );
      }
      storage.sql.exec('UPDATE book SET version = ?', HISTORY_MAX_VERSIONS + 100);
    });
    await book.compile();
    const { oldest, version } = await book.history(1, null);
    expect({ oldest, version }).toEqual({ oldest: 100, version: HISTORY_MAX_VERSIONS + 100 });
    expect(await book.rollback(99, author)).toMatchObject(failed({ reason: 'out-of-reach' }));
    expect(await book.rollback(100, author)).toMatchObject({ ok: true });
  });

  test('edges stay at the last version that a delta of bounded size can contain', async () => {
    const { book } = newBook();
    await book.upsert(addresses(3), author);
    await book.upsert([rule('192.0.2.1')], author);
    await book.remove(addresses(3), author);
    const reach = await runInDurableObject(book, (_, { storage }) =>
      [2, 3, 6, 7].map((limit) => lastVersionWithin(storage.sql, 0, limit)),
    );
    expect(reach).toEqual([0, 1, 2, null]);
  });
});
