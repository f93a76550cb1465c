/** Lists beside the operator's rules in one book: who wins, what leaves with a list, and what a version is. */
import { evictDurableObject } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import { keyOfRule } from '../../src/lists/entry-key.ts';
import type { LayerSettings, ListState } from '../../src/store/rule-book/list-rpc.ts';
import type { WriteAuthor } from '../../src/store/rule-book/rpc.ts';
import { newInstance } from './rule-book-instance.ts';
import { firedFor, loadedByAnEdge, ruleBookStub } from './rule-book-loaded.ts';

const author: WriteAuthor = { nowMs: 1, actor: 'key-1', kind: 'create' };
const bad: LayerSettings = { name: 'bad-networks', verdict: 'block', mode: 'enforce' };
type Book = ReturnType<typeof ruleBookStub>;
let books = 0;

async function newBook(): Promise<{ id: string; book: Book }> {
  books += 1;
  const id = `lists-${books}`;
  return { id, book: ruleBookStub(id) };
}

const keys = (...networks: string[]): string =>
  networks.map((value) => keyOfRule({ type: 'ipMask', value }) ?? '').join('');

async function change(book: Book, name: string, add: string[], remove: string[] = []): Promise<ListState> {
  const ifRevision = (await book.lists()).find((list) => list.name === name)?.revision ?? 0;
  const outcome = await book.changeList(name, { ifRevision, add: keys(...add), remove: keys(...remove) }, 1);
  if (!outcome.ok) throw new Error(outcome.error.reason);
  return outcome.value;
}

describe("an operator's allow", () => {
  test.each([
    ['the same network', '192.0.2.0/24'],
    ['a network around it', '192.0.0.0/16'],
  ])('survives a block of %s by a list, whichever came first', async (_, listed) => {
    const { id, book } = await newBook();
    const allow = { type: 'ipMask' as const, value: '192.0.2.0/24', verdict: 'allow' as const };
    await book.putList(bad, 1);
    await book.upsert([allow], author);
    await change(book, bad.name, [listed]);
    expect((await loadedByAnEdge(id, book)).match(visitor('192.0.2.7'), 1).network?.verdict).toBe('allow');

    await book.remove([allow], author);
    expect((await loadedByAnEdge(id, book)).match(visitor('192.0.2.7'), 1).network?.id).toBe('list:bad-networks');
    await book.upsert([allow], author);
    expect((await loadedByAnEdge(id, book)).match(visitor('192.0.2.7'), 1).network?.verdict).toBe('allow');
    await book.compile();
    expect((await loadedByAnEdge(id, book)).match(visitor('192.0.2.7'), 1).network?.verdict).toBe('allow');
  });

  test('of one address survives a block of this address', async () => {
    const { id, book } = await newBook();
    await book.putList(bad, 1);
    await change(book, bad.name, ['192.0.2.7/32']);
    await book.upsert([{ type: 'ip', value: '192.0.2.7', verdict: 'allow' }], author);
    expect((await loadedByAnEdge(id, book)).match(visitor('192.0.2.7'), 1).network?.verdict).toBe('allow');
  });
});

describe('a list', () => {
  test('takes exactly its entries with it', async () => {
    const { id, book } = await newBook();
    await book.upsert([{ type: 'ipMask', value: '192.0.2.0/24', verdict: 'challenge' }], author);
    await book.putList(bad, 1);
    await book.putList({ name: 'odd-networks', verdict: 'challenge', mode: 'monitor' }, 1);
    await change(book, bad.name, ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24']);
    await change(book, 'odd-networks', ['203.0.113.0/24']);
    expect(await book.removeList(bad.name, 1)).toBe(true);
    const check = async (): Promise<void> => {
      const ruleset = await loadedByAnEdge(id, book);
      expect(firedFor(ruleset, '192.0.2.7')).toEqual(['ipMask:192.0.2.0/24 challenge']);
      expect(firedFor(ruleset, '198.51.100.7')).toEqual([]);
      expect(firedFor(ruleset, '203.0.113.7')).toEqual(['list:odd-networks challenge']);
    };
    await check();
    await book.compile();
    await check();
    expect(await book.removeList(bad.name, 1)).toBe(false);
  });

  test('does not come back with a list that gets its number', async () => {
    const { id, book } = await newBook();
    await book.putList(bad, 1);
    await change(book, bad.name, ['192.0.2.0/24']);
    await book.compile();
    await book.removeList(bad.name, 1);
    await book.putList({ ...bad, name: 'other' }, 1);
    expect(firedFor(await loadedByAnEdge(id, book), '192.0.2.7')).toEqual([]);
    await evictDurableObject(book);
    expect(firedFor(await loadedByAnEdge(id, book), '192.0.2.7')).toEqual([]);
  });

  test('is enforced, or monitored again, without a change for each entry', async () => {
    const { id, book } = await newBook();
    await book.putList({ ...bad, mode: 'monitor' }, 1);
    await change(book, bad.name, ['192.0.2.0/24']);
    await book.compile();
    expect((await loadedByAnEdge(id, book)).match(visitor('192.0.2.7'), 1).network).toBe(null);
    await book.putList(bad, 1);
    const { base, delta } = await book.currentVersion();
    expect((await book.delta(base.hash, delta.version))?.byteLength).toBeLessThan(1200);
    expect((await loadedByAnEdge(id, book)).match(visitor('192.0.2.7'), 1).network?.verdict).toBe('block');
  });

  test('does not count in the history of the operator, and does not make their next write stale', async () => {
    const { book } = await newBook();
    const written = await book.upsert([{ type: 'ip', value: '192.0.2.7', verdict: 'block' }], author);
    if (!written.ok) throw new Error(written.error.reason);
    await book.putList(bad, 1);
    await change(book, bad.name, ['203.0.113.0/24']);
    const { versions, version } = await book.history(10, null);
    expect(versions.map(({ kind }) => kind)).toEqual(['create']);
    expect(version).toBe(3);
    const next = { ...author, ifVersion: written.value.version };
    expect((await book.upsert([{ type: 'ip', value: '192.0.2.8', verdict: 'block' }], next)).ok).toBe(true);
    expect((await book.upsert([{ type: 'ip', value: '192.0.2.9', verdict: 'block' }], next)).ok).toBe(false);
  });

  test('changes only at the revision that the caller knows', async () => {
    const { book } = await newBook();
    await book.putList(bad, 1);
    await change(book, bad.name, ['192.0.2.0/24']);
    const late = await book.changeList(bad.name, { ifRevision: 0, add: keys('203.0.113.0/24'), remove: '' }, 1);
    expect(late).toEqual({ ok: false, error: { reason: 'stale', expected: 0, current: 1 } });
    const unknown = await book.changeList('nobody', { ifRevision: 0, add: '', remove: '' }, 1);
    expect(unknown).toEqual({ ok: false, error: { reason: 'unknown-list' } });
    const again = await change(book, bad.name, ['192.0.2.0/24'], ['203.0.113.0/24']);
    expect(again).toMatchObject({ entries: 1, revision: 1 });
  });

  test('is read back in order, in parts', async () => {
    const { book } = await newBook();
    await book.putList(bad, 1);
    await change(book, bad.name, ['203.0.113.0/24', '192.0.2.0/24', '2001:db8::/32']);
    expect(await book.listKeys(bad.name, '', 2)).toEqual({ keys: keys('192.0.2.0/24', '203.0.113.0/24'), revision: 1 });
    expect((await book.listKeys(bad.name, keys('203.0.113.0/24'), 2))?.keys).toBe(keys('2001:db8::/32'));
    expect(await book.listKeys('nobody', '', 2)).toBe(null);
  });
});

test('explain names the list and its entry', async () => {
  const { id, rules } = await newInstance();
  const book = ruleBookStub(id);
  await book.putList(bad, 1);
  await change(book, bad.name, ['192.0.2.0/24', '192.0.0.0/16']);
  await rules('/create', { rules: [{ type: 'ipMask', value: '192.0.0.0/16', verdict: 'allow' }] });
  const explained = await rules('/explain', { ip: '192.0.2.7' });
  expect(explained.body).toMatchObject({ decision: 'block', decidedBy: 'list:bad-networks' });
  expect(explained.body.explain).toMatch(
    /^Blocked by list bad-networks; also fired ipMask:192\.0\.0\.0\/16 \(allow\);/,
  );
  expect(explained.body.firedRules).toEqual([
    { id: 'list:bad-networks', entry: 'ipMask:192.0.2.0/24', type: 'ipMask', verdict: 'block', mode: 'enforce' },
    { id: 'ipMask:192.0.0.0/16', type: 'ipMask', verdict: 'allow', mode: 'enforce' },
  ]);
});

function visitor(ip: string) {
  return { ip, asn: null, countryCode: null, ja4: null, userAgent: '', rolloutBucket: 0 };
}
