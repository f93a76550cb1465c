/** Entries of lists in a compiled ruleset: they have the verdict, the mode and the name of their list. */
import { describe, expect, test } from 'vitest';
import { encodeDelta, openDelta } from '../../../src/rules/delta.ts';
import { type ListLayer, encodeLayers, openLayers } from '../../../src/rules/list-layers.ts';
import { type Ruleset, createRuleset } from '../../../src/rules/ruleset.ts';
import { type Snapshot, openSnapshot } from '../../../src/rules/snapshot.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { expectRows } from '../../support/rows.ts';
import { BASE_HASH, compile, match } from './rulesets.ts';

const bad: ListLayer = { number: 1, name: 'bad-networks', verdict: 'block', mode: 'enforce' };
const odd: ListLayer = { number: 255, name: 'odd-networks', verdict: 'challenge', mode: 'monitor' };
/** Entries are compiled with the verdict that they had then; the table of lists is what counts. */
const entry = (value: string, list: ListLayer, type: EdgeRule['type'] = 'ipMask'): EdgeRule => ({
  type,
  value,
  verdict: 'allow',
  list: list.number,
});

function base(rules: readonly EdgeRule[], lists: readonly ListLayer[]): Snapshot {
  const opened = openSnapshot(compile(rules, 1, lists));
  if (!opened.ok) throw new Error(opened.error);
  return opened.value;
}

function changed(snapshot: Snapshot, lists: readonly ListLayer[], upserts: readonly EdgeRule[] = []): Ruleset {
  const header = { instanceId: 'instance', baseHash: BASE_HASH, baseVersion: 1, version: 2 };
  const opened = openDelta(encodeDelta({ ...header, upserts, removals: [], lists }));
  if (!opened.ok) throw new Error(opened.error);
  return createRuleset(snapshot, opened.value);
}

const visitor = { ip: '203.0.113.7', asn: 64_496, countryCode: 'DE' };
const fired = (ruleset: Ruleset): string[] =>
  match(ruleset, visitor).fired.map(({ id, entry: of, verdict, mode }) => `${id} ${of ?? '-'} ${verdict} ${mode}`);

describe('an entry of a list', () => {
  const rules = [
    entry('203.0.113.0/24', bad),
    entry('203.0.112.0/23', odd),
    entry('64496', bad, 'asn'),
    entry('DE', odd, 'countryCode'),
    { type: 'ipMask' as const, value: '203.0.0.0/16', verdict: 'allow' as const },
  ];

  test('fires under the name of its list, once for each list, next to the rules of the operator', () => {
    expect(fired(createRuleset(base(rules, [bad, odd]), null))).toEqual([
      'list:bad-networks ipMask:203.0.113.0/24 block enforce',
      'list:odd-networks ipMask:203.0.112.0/23 challenge monitor',
      'ipMask:203.0.0.0/16 - allow enforce',
    ]);
  });

  test('decides like a rule of the same value when its list is enforced', () => {
    expect(match(createRuleset(base(rules, [bad, odd]), null), visitor).network).toMatchObject({
      id: 'list:bad-networks',
      verdict: 'block',
    });
  });

  test('follows the table of lists in a delta, without being in the delta itself', () => {
    const monitored = changed(base(rules, [bad, odd]), [{ ...bad, mode: 'monitor' }, odd]);
    expect(match(monitored, visitor).network).toMatchObject({ id: 'ipMask:203.0.0.0/16', verdict: 'allow' });
    expect(fired(monitored)[0]).toBe('list:bad-networks ipMask:203.0.113.0/24 block monitor');
  });

  test('has no effect when its list is gone', () => {
    expect(fired(changed(base(rules, [bad, odd]), []))).toEqual(['ipMask:203.0.0.0/16 - allow enforce']);
  });

  test('is replaced by a rule of the operator in the delta, and replaces one', () => {
    const snapshot = base(rules, [bad, odd]);
    const allowed = changed(snapshot, [bad, odd], [{ type: 'ipMask', value: '203.0.113.0/24', verdict: 'allow' }]);
    expect(fired(allowed)[0]).toBe('ipMask:203.0.113.0/24 - allow enforce');
    const listed = changed(snapshot, [bad, odd], [entry('203.0.0.0/16', odd)]);
    expect(fired(listed)).toEqual([
      'list:bad-networks ipMask:203.0.113.0/24 block enforce',
      'list:odd-networks ipMask:203.0.112.0/23 challenge monitor',
    ]);
  });

  test('costs one byte for each rule, and a row for its list', () => {
    const thousand = Array.from({ length: 1000 }, (_, i) => entry(`10.${i >> 8}.${i & 255}.0/24`, bad));
    const without = compile(thousand.map(({ type, value, verdict }) => ({ type, value, verdict })));
    expect(compile(thousand, 1, [bad]).length - without.length).toBe(1000 + 16);
  });
});

describe('a table of lists', () => {
  test('comes back as it was written', () => {
    const opened = openLayers(encodeLayers([odd, bad]));
    expect(opened?.filter((layer) => layer !== undefined)).toEqual([bad, odd]);
  });

  test('is refused when it is malformed', () =>
    expectRows(
      [
        ['a list without a number', Uint8Array.of(0, 0, 1, 97)],
        ['a verdict that does not exist', Uint8Array.of(1, 3, 1, 97)],
        ['a name that is cut off', Uint8Array.of(1, 0, 2, 97)],
        ['a row that is cut off', Uint8Array.of(1)],
      ],
      ([, bytes]) => {
        expect(openLayers(bytes)).toBe(null);
      },
    ));

  test('is not written with a number out of range', () => {
    expect(() => encodeLayers([{ ...bad, number: 256 }])).toThrow(TypeError);
    expect(() => encodeLayers([{ ...bad, number: 0 }])).toThrow(TypeError);
  });
});
