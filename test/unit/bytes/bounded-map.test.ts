import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BoundedMap, ExpiringMap } from '../../../src/bytes/bounded-map.ts';

const MAX = 8;

describe('a bounded map', () => {
  test('returns the value set last for a key, or nothing', () => {
    const operation = fc.record({ key: fc.nat(20).map(String), kind: fc.constantFrom('set', 'get', 'delete') });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const map = new BoundedMap<number>(MAX);
        const all = new Map<string, number>();
        operations.forEach(({ key, kind }, index) => {
          if (kind === 'set') {
            map.set(key, index);
            all.set(key, index);
          } else if (kind === 'delete') {
            map.delete(key);
            all.delete(key);
          } else {
            expect([undefined, all.get(key)]).toContain(map.get(key));
          }
        });
      }),
    );
  });

  test('keeps the entries used last, at least half of its bound and at most the bound', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30).map(String), { minLength: 1, maxLength: 200 }), (keys) => {
        // Reading moves an entry, so each key is looked up in a map of its own.
        const isKept = (wanted: string): boolean => {
          const map = new BoundedMap<true>(MAX);
          for (const key of keys) if (map.get(key) === undefined) map.set(key, true);
          return map.get(wanted) === true;
        };
        const usedLast = [...new Set(keys.toReversed())];
        const kept = usedLast.filter(isKept);
        expect(kept).toEqual(expect.arrayContaining(usedLast.slice(0, MAX / 2)));
        expect(kept.length).toBeLessThanOrEqual(MAX);
      }),
    );
  });
});

describe('an expiring map', () => {
  test('forgets an entry after its time, and not before', () => {
    const map = new ExpiringMap<string>(MAX, 1000);
    map.set('key', 'value', 5000);
    expect(map.get('key', 5999)).toBe('value');
    expect(map.get('key', 6000)).toBeUndefined();
    expect(map.get('key', 5999)).toBeUndefined();
  });

  test('does not extend the life of an entry that is read', () => {
    const map = new ExpiringMap<string>(MAX, 1000);
    map.set('key', 'value', 0);
    for (let nowMs = 0; nowMs < 1000; nowMs += 100) {
      map.set(`other ${nowMs}`, 'value', nowMs);
      expect(map.get('key', nowMs)).toBe('value');
    }
    expect(map.get('key', 1000)).toBeUndefined();
  });

  test('counts the life of an entry from when it was set last', () => {
    const map = new ExpiringMap<string>(MAX, 1000);
    map.set('key', 'old', 0);
    map.set('key', 'new', 900);
    expect(map.get('key', 1800)).toBe('new');
  });
});
