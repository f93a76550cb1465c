/**
 * Evidence that no hand is at work: presses at exact centres, movements in straight lines, texts that appear without keys.
 * A person does each of these once in a while, so a kind counts only where most of what was done was done so.
 */
import type { HandCounts } from '../contract/edge/page-reports.ts';

export function addHands(one: HandCounts | undefined, other: HandCounts): HandCounts {
  if (one === undefined) return other;
  return {
    presses: one.presses + other.presses,
    centred: one.centred + other.centred,
    strokes: one.strokes + other.strokes,
    straight: one.straight + other.straight,
    entries: one.entries + other.entries,
    keyless: one.keyless + other.keyless,
  };
}

const most = (part: number, all: number): number => (part * 2 > all ? part : 0);

/** How many actions were a program's. */
export function handlessActions({ presses, centred, strokes, straight, entries, keyless }: HandCounts): number {
  return most(centred, presses) + most(straight, strokes) + most(keyless, entries);
}

/** Parts that are more than the whole: a report that was made up. */
export function areImpossible({ presses, centred, strokes, straight, entries, keyless }: HandCounts): boolean {
  return centred > presses || straight > strokes || keyless > entries;
}
