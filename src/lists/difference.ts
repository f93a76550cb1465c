/**
 * What a new reading of a list changes: the entries that it has now, in parts and in order, against those that were read.
 * Both are sorted, so neither is ever in memory twice.
 */
import type { SortedEntries } from './entry-set.ts';
import { keysIn } from './entry-key.ts';

export interface EntryChanges {
  add: string[];
  remove: string[];
}

/** `present`: parts of the list as it is, each with the keys after the one before; an empty part is the end. */
export async function* entryChanges(
  present: AsyncIterable<string>,
  next: SortedEntries,
  maxChanges: number,
): AsyncGenerator<EntryChanges> {
  let changes: EntryChanges = { add: [], remove: [] };
  let at = 0;
  const isFull = (): boolean => changes.add.length + changes.remove.length >= maxChanges;
  for await (const part of present) {
    for (const key of keysIn(part)) {
      while (at < next.length && next.compare(at, key) < 0) {
        changes.add.push(next.key(at++));
        if (!isFull()) continue;
        yield changes;
        changes = { add: [], remove: [] };
      }
      if (at < next.length && next.compare(at, key) === 0) at += 1;
      else changes.remove.push(key);
    }
    if (!isFull()) continue;
    yield changes;
    changes = { add: [], remove: [] };
  }
  while (at < next.length) {
    changes.add.push(next.key(at++));
    if (!isFull()) continue;
    yield changes;
    changes = { add: [], remove: [] };
  }
  if (changes.add.length + changes.remove.length > 0) yield changes;
}

/** What a reading may change without being asked about. */
export interface ChangeBounds {
  /** Of the entries. 100 percent is any change. */
  maxPercent: number;
  /** So many entries may always come or go: three more than one are no news. */
  floor: number;
}

/** Whether more than this share of a list would go, or as much would be new. A list without entries can only grow. */
export function isTooMuchChange(
  present: number,
  added: number,
  removed: number,
  { maxPercent, floor }: ChangeBounds,
): boolean {
  const most = Math.max(added, removed);
  return present > 0 && maxPercent < 100 && most > floor && most * 100 > present * maxPercent;
}

const PART_ENTRIES = 20_000;

/** Changes that are known: what goes, and then what comes. */
export async function* entryChangesOf(remove: SortedEntries, add: SortedEntries): AsyncGenerator<EntryChanges> {
  for (const keys of partsOf(remove)) yield { add: [], remove: keys };
  for (const keys of partsOf(add)) yield { add: keys, remove: [] };
}

function* partsOf(entries: SortedEntries): Generator<string[]> {
  for (let at = 0; at < entries.length; at += PART_ENTRIES) {
    const count = Math.min(PART_ENTRIES, entries.length - at);
    yield Array.from({ length: count }, (_, i) => entries.key(at + i));
  }
}
