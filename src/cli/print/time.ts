/** Times for people: UTC, to the second. */

/** `2026-11-23 18:05:09`, from epoch milliseconds. `null`: never. */
export function timeText(ms: number | null | undefined): string | null {
  if (ms === null || ms === undefined) return null;
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString().slice(0, 19).replace('T', ' ');
}
