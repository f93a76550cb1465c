/** What changed between two policy sets, by name. A policy that kept its content and changed its place has moved. */
import type { Limit } from '../contract/management/policy-set/limit.ts';
import type { NamedOrigin, Origin } from '../contract/management/policy-set/origin.ts';
import type { PolicySet } from '../contract/management/policy-set/policy-set.ts';
import type { Policy } from '../contract/management/policy-set/policy.ts';

export const setChanges = ['added', 'removed', 'changed', 'moved'] as const;

export interface ItemDifference<Item> {
  change: (typeof setChanges)[number];
  name: string;
  /** `null`: there was none. */
  before: Item | null;
  /** `null`: there is none any more. */
  after: Item | null;
  /** Place in the list, from 1; `null` as above. */
  placeBefore: number | null;
  placeAfter: number | null;
}

export interface SetDifference {
  policies: ItemDifference<Policy>[];
  limits: ItemDifference<Limit>[];
  origins: ItemDifference<NamedOrigin>[];
}

/** Both in canonical form. */
export function diffPolicySets(before: PolicySet, after: PolicySet): SetDifference {
  // The order of limits means nothing.
  const limits = diffItems(before.limits, after.limits).filter(({ change }) => change !== 'moved');
  const origins = diffItems(namedOrigins(before.origins), namedOrigins(after.origins));
  return { policies: diffItems(before.policies, after.policies), limits, origins };
}

export function isSame({ policies, limits, origins }: SetDifference): boolean {
  return policies.length === 0 && limits.length === 0 && origins.length === 0;
}

export function diffItems<Item extends { name: string }>(
  before: readonly Item[],
  after: readonly Item[],
): ItemDifference<Item>[] {
  const placesAfter = placesOf(after);
  const placesBefore = placesOf(before);
  const kept = before.filter(({ name }) => placesAfter.has(name)).map(({ name }) => name);
  const unmoved = longestRising(kept.map((name) => placesAfter.get(name)!));
  const differences: ItemDifference<Item>[] = [];
  for (const item of after) {
    const { name } = item;
    const placeAfter = placesAfter.get(name)!;
    const placeBefore = placesBefore.get(name) ?? null;
    const old = placeBefore === null ? null : before[placeBefore - 1]!;
    const change =
      old === null
        ? 'added'
        : JSON.stringify(old) !== JSON.stringify(item)
          ? 'changed'
          : unmoved.has(placeAfter)
            ? null
            : 'moved';
    if (change !== null) differences.push({ change, name, before: old, after: item, placeBefore, placeAfter });
  }
  for (const [index, old] of before.entries()) {
    if (placesAfter.has(old.name)) continue;
    const { name } = old;
    differences.push({ change: 'removed', name, before: old, after: null, placeBefore: index + 1, placeAfter: null });
  }
  return differences;
}

function placesOf(items: readonly { name: string }[]): Map<string, number> {
  return new Map(items.map(({ name }, index) => [name, index + 1]));
}

/**
 * The numbers of a longest rising subsequence (patience sorting): what kept its order. Whatever else is left has moved, so
 * that one policy that goes from the end to the front is one move and not a thousand.
 */
function longestRising(numbers: readonly number[]): Set<number> {
  /** Index of the smallest number that ends a rising run of each length. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [index, number] of numbers.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]!]! < number) low = middle + 1;
      else high = middle;
    }
    previous.push(low === 0 ? -1 : ends[low - 1]!);
    ends[low] = index;
  }
  const rising = new Set<number>();
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at]!) rising.add(numbers[at]!);
  return rising;
}

/** In the order of their names: the order of a record's keys means nothing. Edges get them in this order too. */
export function namedOrigins(origins: Readonly<Record<string, Origin>>): NamedOrigin[] {
  const names = Object.keys(origins).toSorted();
  return names.map((name) => ({ name, ...origins[name]! }));
}
