/**
 * The bounds between the slices of sorted keys. All segments with the same bounds have the same keys in the same slice.
 * New bounds are made from a segment whose keys the last ones deal out badly, because the site's paths have changed.
 */

/** Slices per set of bounds. */
export const SORTED_SLICES = 16;
/** A set of bounds may make a slice this many times as long as the best bounds for the segment would. */
const UNEVEN_MAX = 2;
/** Numbers of slices are bounded. The last set is kept for good then. */
const SETS_MAX = 16_000;

export interface SliceBounds {
  /** Number of the slice before the first bound. */
  first: number;
  /** Keys in rising order; each begins a slice. */
  bounds: readonly string[];
}

type Sorted = readonly (readonly [key: string, rows: readonly number[]])[];

export function knownBounds(sql: SqlStorage): SliceBounds[] {
  return sql
    .exec<{ no: number; bounds: string }>('SELECT no, bounds FROM slice_bounds ORDER BY no')
    .toArray()
    .map(({ no, bounds }) => ({ first: no * SORTED_SLICES, bounds: JSON.parse(bounds) as string[] }));
}

/** The last bounds if they fit these keys, or new ones, stored. */
export function boundsFor(sql: SqlStorage, sorted: Sorted): SliceBounds {
  const last = knownBounds(sql).at(-1);
  const fitting = evenBounds(sorted);
  const no = last === undefined ? 1 : last.first / SORTED_SLICES + 1;
  if (last && (no > SETS_MAX || longest(sorted, last.bounds) <= UNEVEN_MAX * longest(sorted, fitting))) return last;
  sql.exec('INSERT INTO slice_bounds (no, bounds) VALUES (?, ?)', no, JSON.stringify(fitting));
  return { first: no * SORTED_SLICES, bounds: fitting };
}

/** The last bounds stay, so that their number is not used again. */
export function dropUnusedBounds(sql: SqlStorage, isUsed: (bounds: SliceBounds) => boolean): void {
  for (const known of knownBounds(sql).slice(0, -1)) {
    if (!isUsed(known)) sql.exec('DELETE FROM slice_bounds WHERE no = ?', known.first / SORTED_SLICES);
  }
}

/** The slices that hold this key, or with `prefix` every key that begins with it. */
export function slicesOfKey(
  { first, bounds }: SliceBounds,
  key: string,
  prefix: boolean,
): { from: number; to: number } {
  const from = bounds.filter((bound) => bound <= key).length;
  const to = prefix ? from + bounds.filter((bound) => bound > key && bound.startsWith(key)).length : from;
  return { from: first + from, to: first + to };
}

function weightOf([key, rows]: Sorted[number]): number {
  return key.length + 4 * rows.length;
}

function evenBounds(sorted: Sorted): string[] {
  const share = sorted.reduce((sum, entry) => sum + weightOf(entry), 0) / SORTED_SLICES;
  const bounds: string[] = [];
  let weight = 0;
  for (const entry of sorted) {
    if (weight >= share) {
      bounds.push(entry[0]);
      weight = 0;
    }
    weight += weightOf(entry);
  }
  return bounds;
}

function longest(sorted: Sorted, bounds: readonly string[]): number {
  const weights = Array.from({ length: bounds.length + 1 }, () => 0);
  let slice = 0;
  for (const entry of sorted) {
    while (slice < bounds.length && entry[0] >= (bounds[slice] as string)) slice++;
    weights[slice] = (weights[slice] as number) + weightOf(entry);
  }
  return Math.max(...weights);
}
