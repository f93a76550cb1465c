/**
 * The RuleBook against a plain map: after writes, deletions, rollbacks, compiles and evictions in any order, the listed
 * rules and the rules an edge loads equal those of the map at that version.
 */
import { evictDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Decision } from '../../src/contract/vocabulary.ts';
import { rulePage } from '../../src/store/rule-book/client.ts';
import type { WriteAuthor } from '../../src/store/rule-book/rpc.ts';
import { runs } from '../support/properties.ts';
import { firedFor, loadedByAnEdge, ruleBookStub } from './rule-book-loaded.ts';

const RUNS = runs(25);
const author: WriteAuthor = { nowMs: 1, actor: 'key-1', kind: 'create' };
const addresses = Array.from({ length: 8 }, (_, i) => `192.0.2.${i}`);

type Model = ReadonlyMap<string, Decision>;
type Step =
  | { do: 'upsert'; rules: [string, Decision][] }
  | { do: 'remove'; values: string[] }
  | { do: 'rollback'; back: number }
  | { do: 'compile' | 'evict' };

const address = fc.constantFrom(...addresses);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('upsert' as const), rules: pairs() }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('remove' as const), values: fc.array(address, { maxLength: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rollback' as const), back: fc.nat(4) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('compile' as const, 'evict' as const) }) },
);

function pairs(): fc.Arbitrary<[string, Decision][]> {
  return fc.array(fc.tuple(address, fc.constantFrom<Decision[]>('allow', 'challenge', 'block')), { maxLength: 5 });
}

let books = 0;

test('after any sequence of steps, listed and loaded rules equal those of a plain map', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
      books += 1;
      const id = `model-${books}`;
      const book = ruleBookStub(id);
      const versions: Model[] = [new Map()];
      for (const one of steps) await apply(one, versions, book);
      const present = versions.at(-1) ?? new Map();

      const page = await rulePage(book, { limit: 100 });
      expect(page.version).toBe(versions.length - 1);
      expect(page.total).toBe(present.size);
      expect(Object.fromEntries(page.rules.map((rule) => [rule.value, rule.verdict]))).toEqual(
        Object.fromEntries(present),
      );
      const ruleset = await loadedByAnEdge(id, book);
      expect(ruleset.ruleCount).toBe(present.size);
      for (const value of addresses) {
        const verdict = present.get(value);
        expect(firedFor(ruleset, value)).toEqual(verdict === undefined ? [] : [`ip:${value} ${verdict}`]);
      }
    }),
    { numRuns: RUNS },
  );
});

async function apply(one: Step, versions: Model[], book: ReturnType<typeof ruleBookStub>): Promise<void> {
  const before = versions.at(-1) ?? new Map<string, Decision>();
  const after = new Map(before);
  if (one.do === 'compile') await book.compile();
  if (one.do === 'evict') {
    // Only a running object can be evicted.
    await book.history(1, null);
    await evictDurableObject(book);
  }
  if (one.do === 'upsert') {
    for (const [value, verdict] of one.rules) after.set(value, verdict);
    await book.upsert(
      one.rules.map(([value, verdict]) => ({ type: 'ip', value, verdict })),
      author,
    );
  }
  if (one.do === 'remove') {
    for (const value of one.values) after.delete(value);
    await book.remove(
      one.values.map((value) => ({ type: 'ip', value })),
      { ...author, kind: 'delete' },
    );
  }
  if (one.do === 'rollback') {
    const target = Math.max(versions.length - 1 - one.back, 0);
    after.clear();
    for (const [value, verdict] of versions[target] ?? []) after.set(value, verdict);
    await book.rollback(target, { ...author, kind: 'rollback' });
  }
  // A step that changes nothing makes no version.
  if (!sameRules(before, after)) versions.push(after);
}

function sameRules(one: Model, other: Model): boolean {
  return one.size === other.size && [...one].every(([value, verdict]) => other.get(value) === verdict);
}
