/**
 * "Challenge Difficulty by Risk Score" (design 6): what a Protect instance asks of a session at its present risk,
 * which the edge told and had checked. Rows may stand in any order.
 */
import type { ChallengeDifficultyRow } from '../../contract/management/instance.ts';

/** Of the rows that the score reaches, the one with the highest `minScore`. */
export function difficultyAt(rows: readonly ChallengeDifficultyRow[], score: number): ChallengeDifficultyRow | null {
  let found: ChallengeDifficultyRow | null = null;
  for (const row of rows) {
    if (row.minScore <= score && (found === null || row.minScore > found.minScore)) found = row;
  }
  return found;
}
