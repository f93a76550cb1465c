/**
 * The difference of two texts by lines: the shortest way from one to the other (Myers, "An O(ND) Difference Algorithm").
 * Texts that differ in more lines than the bound are one change.
 */
export interface DiffLine {
  kind: 'same' | 'added' | 'removed';
  text: string;
}

/** The memory that it takes grows with the square of this: 8 MB. */
const CHANGES_MAX = 2000;

export function lineDiff(before: string, after: string): DiffLine[] {
  const old = textLines(before);
  const now = textLines(after);
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++;
  return [
    ...old.slice(0, start).map(same),
    ...changed(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
}

const same = (text: string): DiffLine => ({ kind: 'same', text });
const removed = (text: string): DiffLine => ({ kind: 'removed', text });
const added = (text: string): DiffLine => ({ kind: 'added', text });

/** Without the end of the last one. */
export function textLines(text: string): string[] {
  const lines = text.split(/\r\n?|\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function changed(old: readonly string[], now: readonly string[]): DiffLine[] {
  const steps = old.length === 0 || now.length === 0 ? null : shortestWay(old, now);
  if (steps === null) return [...old.map(removed), ...now.map(added)];
  // From the end back to the beginning.
  const lines: DiffLine[] = [];
  let x = old.length;
  let y = now.length;
  for (let step = steps.length - 1; step > 0; step--) {
    const reached = steps[step - 1]!;
    const isAdded = isDown(reached, x - y, step);
    const fromX = reached[(isAdded ? x - y + 1 : x - y - 1) + step]!;
    const fromY = fromX - (isAdded ? x - y + 1 : x - y - 1);
    while (x > fromX + (isAdded ? 0 : 1) || y > fromY + (isAdded ? 1 : 0)) {
      lines.push(same(old[--x]!));
      y--;
    }
    lines.push(isAdded ? added(now[--y]!) : removed(old[--x]!));
  }
  while (x > 0) lines.push(same(old[--x]!));
  return lines.toReversed();
}

/**
 * For each number of changes how far in `old` each diagonal gets. A row is that of the step before, in which diagonal `k`
 * of `step` changes is at `k + step + 1`.
 */
function shortestWay(old: readonly string[], now: readonly string[]): Int32Array[] | null {
  const steps: Int32Array[] = [];
  let reached = new Int32Array([0, 0, 0]);
  for (let step = 0; step <= CHANGES_MAX; step++) {
    const next = new Int32Array(2 * step + 5);
    for (let k = -step; k <= step; k += 2) {
      let x = step === 0 ? 0 : isDown(reached, k, step) ? reached[k + 1 + step]! : reached[k - 1 + step]! + 1;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x++;
      next[k + step + 1] = x;
      if (x >= old.length && x - k >= now.length) {
        steps.push(next);
        return steps;
      }
    }
    steps.push(next);
    reached = next;
  }
  return null;
}

/** Whether the way to diagonal `k` adds a line. */
function isDown(reached: Int32Array, k: number, step: number): boolean {
  return k === -step || (k !== step && reached[k - 1 + step]! < reached[k + 1 + step]!);
}
