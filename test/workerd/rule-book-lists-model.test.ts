/**
 * A RuleBook with lists against plain maps: the operator's rules and several lists change in any order, while bases are
 * compiled, the object is evicted and versions are restored. What an edge loads is always the rule in force for each
 * value: the operator's, else the strictest enforced list's, else a monitored list's.
 */
import { evictDurableObject } from 'cloudflare:test';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Decision, decisions } from '../../src/contract/vocabulary.ts';
import { keyOfRule } from '../../src/lists/entry-key.ts';
import type { MatchSignals } from '../../src/rules/types.ts';
import { rulePage } from '../../src/store/rule-book/client.ts';
import type { RuleKey, RuleWrite } from '../../src/store/rule-book/rule-row.ts';
import type { WriteAuthor } from '../../src/store/rule-book/rpc.ts';
import { runs } from '../support/properties.ts';
import { loadedByAnEdge, ruleBookStub } from './rule-book-loaded.ts';

const RUNS = runs(25);
const author: WriteAuthor = { nowMs: 1, actor: 'key-1', kind: 'create' };
/** Most specific first, which is the order in which they fire for the visitors below. */
const values: readonly RuleKey[] = [
  { type: 'ip', value: '203.0.113.7' },
  { type: 'ipMask', value: '203.0.113.7/32' },
  { type: 'ipMask', value: '203.0.113.0/24' },
  { type: 'ipMask', value: '203.0.0.0/16' },
  { type: 'asn', value: '64496' },
  { type: 'countryCode', value: 'DE' },
];
const visitors: Partial<MatchSignals>[] = [
  { ip: '203.0.113.7', asn: 64_496, countryCode: 'DE' },
  { ip: '203.0.113.8', asn: 64_497, countryCode: 'DE' },
  { ip: '203.0.1.1', asn: 64_496, countryCode: 'FR' },
];
const listNames = ['one', 'two', 'three'] as const;
type ListName = (typeof listNames)[number];

interface List {
  verdict: Decision;
  mode: 'enforce' | 'monitor';
  entries: ReadonlySet<string>;
}
interface Model {
  rules: ReadonlyMap<string, RuleWrite>;
  lists: Map<ListName, List>;
}
type Step =
  | { do: 'upsert'; rules: RuleWrite[] }
  | { do: 'remove'; keys: RuleKey[] }
  | { do: 'rollback'; back: number }
  | { do: 'settings'; name: ListName; verdict: Decision; mode: 'enforce' | 'monitor' }
  | { do: 'change'; name: ListName; add: RuleKey[]; remove: RuleKey[] }
  | { do: 'unsubscribe'; name: ListName }
  | { do: 'compile' | 'compile-meanwhile' | 'evict' | 'load' };

const idOf = ({ type, value }: RuleKey): string => `${type}:${value}`;
const key = fc.constantFrom(...values);
const listKey = fc.constantFrom(...values.filter(({ type }) => type !== 'ip'));
const verdict = fc.constantFrom(...decisions);
const mode = fc.constantFrom('enforce' as const, 'monitor' as const);
const name = fc.constantFrom(...listNames);
const rule: fc.Arbitrary<RuleWrite> = fc
  .record({ at: key, verdict, mode, isExpired: fc.nat(3) })
  .map(({ at, verdict: said, mode: how, isExpired }) => ({
    ...at,
    verdict: said,
    ...(how === 'monitor' ? { mode: how } : {}),
    ...(isExpired === 0 ? { expiry: 1 } : {}),
  }));
const some = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(of, { maxLength: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('upsert' as const), rules: some(rule) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), keys: some(key) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('rollback' as const), back: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('settings' as const), name, verdict, mode }) },
  {
    weight: 7,
    arbitrary: fc.record({ do: fc.constant('change' as const), name, add: some(listKey), remove: some(listKey) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('unsubscribe' as const), name }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('compile', 'compile-meanwhile', 'evict', 'load'),
    }) as fc.Arbitrary<Step>,
  },
);

let books = 0;

test('an edge always has the rule in force for each value', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24 }), async (steps) => {
      books += 1;
      const run = new Run(`lists-model-${books}`);
      for (const one of steps) {
        await run.apply(one);
        if (one.do === 'load') await run.compare();
      }
      await Promise.all(run.compiles);
      await run.compare();
      const page = await rulePage(run.book, { limit: 100 });
      expect(new Set(page.rules.map(idOf))).toEqual(new Set(run.model.rules.keys()));
      await run.book.compile();
      await run.compare();
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});

class Run {
  readonly id: string;
  readonly book: ReturnType<typeof ruleBookStub>;
  readonly model: Model = { rules: new Map(), lists: new Map() };
  readonly compiles: Promise<void>[] = [];
  /** The operator's rules by the version that made them. */
  readonly #versions: { version: number; rules: Model['rules'] }[] = [{ version: 0, rules: new Map() }];

  constructor(id: string) {
    this.id = id;
    this.book = ruleBookStub(id);
  }

  async apply(one: Step): Promise<void> {
    switch (one.do) {
      case 'upsert': {
        const outcome = await this.book.upsert(one.rules, author);
        return this.#standing(outcome, (rules) => {
          for (const each of one.rules) rules.set(idOf(each), each);
        });
      }
      case 'remove': {
        const outcome = await this.book.remove(one.keys, { ...author, kind: 'delete' });
        return this.#standing(outcome, (rules) => {
          for (const each of one.keys) rules.delete(idOf(each));
        });
      }
      case 'rollback': {
        const target = this.#versions.at(-1 - one.back) ?? this.#versions[0]!;
        const outcome = await this.book.rollback(target.version, { ...author, kind: 'rollback' });
        return this.#standing(outcome, (rules) => {
          rules.clear();
          for (const [id, each] of target.rules) rules.set(id, each);
        });
      }
      case 'settings': {
        await this.book.putList({ name: one.name, verdict: one.verdict, mode: one.mode }, 1);
        const known = this.model.lists.get(one.name) ?? { entries: new Set<string>() };
        this.model.lists.set(one.name, { ...known, verdict: one.verdict, mode: one.mode });
        return;
      }
      case 'change':
        return this.#change(one);
      case 'unsubscribe':
        expect(await this.book.removeList(one.name, 1)).toBe(this.model.lists.delete(one.name));
        return;
      case 'compile':
        return this.book.compile();
      case 'compile-meanwhile':
        this.compiles.push(this.book.compile().catch(() => {}));
        return;
      case 'evict':
        await Promise.all(this.compiles);
        await this.book.history(1, null);
        await evictDurableObject(this.book);
    }
  }

  async #change({ name: of, add, remove }: Extract<Step, { do: 'change' }>): Promise<void> {
    const state = (await this.book.lists()).find((each) => each.name === of);
    const known = this.model.lists.get(of);
    expect(state?.entries).toBe(known?.entries.size);
    if (!state || !known) return;
    const text = (keys: readonly RuleKey[]): string => [...new Set(keys.map(keyOfRule))].join('');
    const outcome = await this.book.changeList(
      of,
      { ifRevision: state.revision, add: text(add), remove: text(remove) },
      1,
    );
    expect(outcome.ok).toBe(true);
    const gone = new Set(remove.map(idOf));
    const entries = new Set([...[...known.entries].filter((id) => !gone.has(id)), ...add.map(idOf)]);
    this.model.lists.set(of, { ...known, entries });
  }

  #standing(outcome: { ok: boolean; value?: { version: number } }, change: (rules: Map<string, RuleWrite>) => void) {
    expect(outcome.ok).toBe(true);
    const rules = new Map(this.model.rules);
    change(rules);
    this.model.rules = rules;
    this.#versions.push({ version: outcome.value?.version ?? 0, rules });
  }

  async compare(): Promise<void> {
    const ruleset = await loadedByAnEdge(this.id, this.book);
    for (const visitor of visitors) {
      const signals = {
        ip: null,
        asn: null,
        countryCode: null,
        ja4: null,
        userAgent: '',
        rolloutBucket: 0,
        ...visitor,
      };
      const fired = ruleset.match(signals, 100).fired.map((each) => `${each.id} ${each.verdict} ${each.mode}`);
      expect(fired).toEqual(this.#expected(visitor));
    }
  }

  #expected({ ip = '', asn, countryCode }: Partial<MatchSignals>): string[] {
    const matches = (of: RuleKey): boolean =>
      of.type === 'asn'
        ? of.value === String(asn)
        : of.type === 'countryCode'
          ? of.value === countryCode
          : ip!.startsWith(
              { '32': '203.0.113.7', '24': '203.0.113.', '16': '203.0.' }[of.value.split('/')[1] ?? '32']!,
            );
    const lines = values.filter(matches).flatMap((of) => this.#inForce(idOf(of)) ?? []);
    // The most specific entry of a list stands for all of them.
    return lines.filter((line, at) => !line.startsWith('list:') || lines.indexOf(line) === at);
  }

  #inForce(id: string): string | null {
    const own = this.model.rules.get(id);
    if (own && own.expiry === undefined) return `${id} ${own.verdict} ${own.mode ?? 'enforce'}`;
    const [owner] = [...this.model.lists]
      .filter(([, { entries }]) => entries.has(id))
      .toSorted(([name1, one], [name2, other]) => strength(other) - strength(one) || (name1 < name2 ? -1 : 1));
    return owner ? `list:${owner[0]} ${owner[1].verdict} ${owner[1].mode}` : null;
  }
}

function strength({ mode: how, verdict: said }: List): number {
  return decisions.indexOf(said) + (how === 'enforce' ? decisions.length : 0);
}
