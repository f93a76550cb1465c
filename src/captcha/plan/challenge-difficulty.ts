/**
 * Challenge difficulty by risk score: what a Protect instance demands of a session at its current risk, which
 * the edge sends with its call. Rows may be in any order.
 */
import type { ChallengeDifficultyRow } from '../../contract/management/instance-policy.ts';

/** Of the rows that the score reaches, the one with the highest `minScore`. */
export function difficultyAt(rows: readonly ChallengeDifficultyRow[], score: number): ChallengeDifficultyRow | null {
  let found: ChallengeDifficultyRow | null = null;
  for (const row of rows) {
    if (row.minScore <= score && (found === null || row.minScore > found.minScore)) found = row;
  }
  return found;
}
