/** Rulesets for tests, made in one line. */
import { RulesetCompiler } from '../../../src/rules/compiler.ts';
import { type Delta, encodeDelta, openDelta } from '../../../src/rules/delta.ts';
import type { ListLayer } from '../../../src/rules/list-layers.ts';
import { type Ruleset, createRuleset } from '../../../src/rules/ruleset.ts';
import { type Snapshot, openSnapshot } from '../../../src/rules/snapshot.ts';
import type { EdgeRule, MatchSignals, RuleMatch } from '../../../src/rules/types.ts';

export const BASE_HASH = 'ab'.repeat(32);

export function compile(rules: Iterable<EdgeRule>, version = 1, lists: readonly ListLayer[] = []): Uint8Array {
  const compiler = new RulesetCompiler({ instanceId: 'instance', version, createdAtMs: 1_700_000_000_000, lists });
  for (const rule of rules) compiler.add(rule);
  return compiler.finish();
}

export function snapshotOf(rules: Iterable<EdgeRule>): Snapshot {
  const opened = openSnapshot(compile(rules));
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

export function deltaOf(upserts: Iterable<EdgeRule>, removals: Iterable<Pick<EdgeRule, 'type' | 'value'>>): Delta {
  const opened = openDelta(
    encodeDelta({ instanceId: 'instance', baseHash: BASE_HASH, baseVersion: 1, version: 2, upserts, removals }),
  );
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

export function rulesetOf(rules: Iterable<EdgeRule>, delta: Delta | null = null): Ruleset {
  return createRuleset(snapshotOf(rules), delta);
}

const nobody: MatchSignals = { ip: null, asn: null, countryCode: null, ja4: null, userAgent: '', rolloutBucket: 0 };

/** Matches at second 0 by default. The rules are plain objects, as in a response, to be compared. */
export function match(ruleset: Ruleset, signals: Partial<MatchSignals>, nowSeconds = 0): RuleMatch {
  return JSON.parse(JSON.stringify(ruleset.match({ ...nobody, ...signals }, nowSeconds))) as RuleMatch;
}

export function firedIds(ruleset: Ruleset, signals: Partial<MatchSignals>): string[] {
  return match(ruleset, signals).fired.map(({ id }) => id);
}

/** Numbers whose hash is less than `count`, ascending: all belong to the first place of a table. */
export function collidingNumbers(count: number): Uint32Array {
  let inverse = 1;
  for (let i = 0; i < 5; i++) inverse = Math.imul(inverse, 2 - Math.imul(0x9e3779b1, inverse));
  return Uint32Array.from({ length: count }, (_, hash) => Math.imul(hash, inverse) >>> 0).toSorted();
}
