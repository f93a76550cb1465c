/**
 * The engine, compared with the naive oracle: any rules in any order, any delta, any request, and more than 100,000
 * requests in a full run. Larger tables are in `prefixes.test.ts` and `substrings.test.ts`.
 */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalValue } from '../../../src/rules/canonical.ts';
import { RulesetCompiler } from '../../../src/rules/compiler.ts';
import { type Delta, encodeDelta, openDelta } from '../../../src/rules/delta.ts';
import { type Ruleset, createRuleset } from '../../../src/rules/ruleset.ts';
import { type Snapshot, openSnapshot } from '../../../src/rules/snapshot.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { runs } from '../../support/properties.ts';
import { ruleAt, rulesOf } from '../../support/snapshot-rules.ts';
import { rule, userAgent, visitor } from './arbitraries.ts';
import { type OracleRule, type OracleSignals, longText, oracleMatch } from './oracle.ts';

const NOW_SECONDS = 100;
const VISITORS = 10;
const HEADERS = 10;
const RUNS = runs(520);

/** With the engine's canonical addresses and user agents, which the oracle uses as they are. */
function canonical(raw: OracleRule): OracleRule {
  const { prefix } = raw;
  const text = !prefix ? raw.value : longText(prefix) + (raw.type === 'ipMask' ? `/${prefix.length}` : '');
  const spelled = canonicalValue(raw.type, text);
  if (!spelled.ok) throw new Error(`${raw.type} ${text} ${spelled.error}`);
  return { ...raw, value: spelled.value };
}

function asEdgeRule(raw: OracleRule): EdgeRule {
  const { prefix, ...edgeRule } = raw;
  void prefix;
  return edgeRule;
}

const keyOf = (one: OracleRule): string => `${one.type}:${one.value}`;

function compile(rules: readonly OracleRule[]): Uint8Array {
  const compiler = new RulesetCompiler({ instanceId: 'instance', version: 7, createdAtMs: 0 });
  for (const one of rules) compiler.add(asEdgeRule(one));
  return compiler.finish();
}

function opened(bytes: Uint8Array): Snapshot {
  const result = openSnapshot(bytes);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

function openedDelta(upserts: OracleRule[], removals: OracleRule[]): Delta {
  const header = { instanceId: 'instance', baseHash: '0'.repeat(64), baseVersion: 7, version: 8 };
  const result = openDelta(encodeDelta({ ...header, upserts: upserts.map(asEdgeRule), removals }));
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

const ruleList = fc.array(rule.map(canonical), { maxLength: 60 });
/** Every visitor with every header, so that each header arrives often enough to be remembered. */
const requests = fc
  .tuple(
    fc.array(visitor, { minLength: VISITORS, maxLength: VISITORS }),
    fc.array(userAgent, { minLength: HEADERS, maxLength: HEADERS }),
  )
  .map(([visitors, headers]) =>
    visitors.flatMap((facts) => headers.map((header): OracleSignals => ({ ...facts, userAgent: header }))),
  );

function expectSame(ruleset: Ruleset, list: readonly OracleRule[], asked: OracleSignals): void {
  const answer = ruleset.match(asked, NOW_SECONDS);
  const right = oracleMatch(list, asked, NOW_SECONDS);
  // Compared as text first: a comparison of fields would take most of the test's time.
  if (JSON.stringify(answer) !== JSON.stringify(right)) expect(answer).toEqual(right);
}

describe('matching', () => {
  let cases = 0;

  test('finds what a linear scan finds, with the last of equal values', () => {
    fc.assert(
      fc.property(ruleList, requests, (rules, asked) => {
        const standing = new Map(rules.map((one) => [keyOf(one), one]));
        const ruleset = createRuleset(opened(compile(rules)), null);
        expect(ruleset.ruleCount).toBe(standing.size);
        const list = [...standing.values()];
        for (const one of asked) {
          expectSame(ruleset, list, one);
          cases++;
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('finds in base and delta what a linear scan finds in their sum', () => {
    fc.assert(
      fc.property(ruleList, ruleList, requests, fc.infiniteStream(fc.nat(2)), (base, changes, asked, draws) => {
        const standing = new Map(base.map((one) => [keyOf(one), one]));
        const upserts: OracleRule[] = [];
        const removals: OracleRule[] = [];
        // A third of the base is removed; a key is either set or removed, as in a real delta.
        for (const one of standing.values()) if (draws.next().value === 0) removals.push(one);
        for (const one of removals) standing.delete(keyOf(one));
        const removed = new Set(removals.map(keyOf));
        for (const one of changes) if (!removed.has(keyOf(one))) upserts.push(one);
        for (const one of upserts) standing.set(keyOf(one), one);
        const ruleset = createRuleset(opened(compile(base)), openedDelta(upserts, removals));
        expect(ruleset.ruleCount).toBe(standing.size);
        expect(ruleset.version).toBe(8);
        const list = [...standing.values()];
        for (const one of asked) {
          expectSame(ruleset, list, one);
          cases++;
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('is compared in at least 100,000 cases in a full run', () => {
    expect(cases).toBeGreaterThanOrEqual(runs(100_000));
  });
});

describe('compiling', () => {
  test('results in the same bytes for the same rules in any order', () => {
    fc.assert(
      fc.property(
        fc
          .uniqueArray(rule.map(canonical), { selector: keyOf, maxLength: 60 })
          .chain((rules) => fc.tuple(fc.constant(rules), fc.shuffledSubarray(rules, { minLength: rules.length }))),
        ([rules, shuffled]) => {
          expect(compile(shuffled)).toEqual(compile(rules));
        },
      ),
      { numRuns: runs(300) },
    );
  });

  test('preserves every rule', () => {
    fc.assert(
      fc.property(fc.uniqueArray(rule.map(canonical), { selector: keyOf, maxLength: 60 }), (rules) => {
        const snapshot = opened(compile(rules));
        const kept = new Map(rulesOf(snapshot).map((one) => [`${one.type}:${one.value}`, one]));
        expect(kept.size).toBe(rules.length);
        for (const one of rules) {
          const { mode, ...rest } = asEdgeRule(one);
          expect(kept.get(keyOf(one))).toEqual(mode === 'monitor' ? { ...rest, mode } : rest);
          expect(ruleAt(snapshot, snapshot.ruleOf(one.type, one.value)).value).toBe(one.value);
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
