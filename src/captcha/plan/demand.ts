/**
 * What a solved challenge must show to count: kind, work, and whether waiting is enough. The edge computes it from its
 * config whenever a clearance is shown, and the service from the whole settings when a challenge is asked for and when
 * its token comes back. Both use these functions, so a visitor who did what was demanded is not asked for more.
 */
import type { SiteDemand } from '../../contract/edge/edge-responses.ts';
import type { ChallengeDifficultyRow, InstancePolicy } from '../../contract/management/instance-policy.ts';
import type { ChallengeKind } from '../../contract/vocabulary.ts';
import type { ChallengeLane } from '../seal/sealed-course.ts';
import { INSTEAD_OF_PICTURES_DIFFICULTY, POW_DIFFICULTY_MAX } from './level-prices.ts';

export interface Demand {
  kind: ChallengeKind;
  powDifficulty: number;
  /** Whether a visitor who only waited passes. */
  mayWait: boolean;
}

/** What was done. */
export interface Proof {
  kind: ChallengeKind;
  /** 0: waited, without work. */
  powDifficulty: number;
}

/** What of an instance's policy decides a demand. */
export type InstanceDemand = Pick<InstancePolicy, 'challengeDifficulty' | 'challengeThreshold' | 'clearanceLevel'>;

const HARSHNESS: Record<ChallengeKind, number> = { pow: 0, puzzle: 1, image: 2 };

export function harsher(a: ChallengeKind, b: ChallengeKind | undefined): ChallengeKind {
  return b === undefined || HARSHNESS[a] >= HARSHNESS[b] ? a : b;
}

export function meets(proof: Proof, demand: Demand): boolean {
  if (HARSHNESS[proof.kind] < HARSHNESS[demand.kind]) return false;
  return proof.powDifficulty === 0 ? demand.mayWait : proof.powDifficulty >= demand.powDifficulty;
}

export function proofFrom({ kind, lane, powDifficulty }: Proof & { lane: ChallengeLane }): Proof {
  return { kind, powDifficulty: lane === 'wait' ? 0 : powDifficulty };
}

/** The site's own choice at a score, before rules and instances make it harder. */
export function siteKindAt(
  { captchaType, puzzleFrom, imageFrom, puzzle, image }: SiteDemand,
  score: number,
): { kind: ChallengeKind; extraDifficulty: number; suspicious: boolean } {
  const suspicious = score >= puzzleFrom;
  if (captchaType !== 'frictionless') return { kind: captchaType, extraDifficulty: 0, suspicious };
  if (!suspicious) return { kind: 'pow', extraDifficulty: 0, suspicious };
  if (image && (score >= imageFrom || !puzzle)) return { kind: 'image', extraDifficulty: 0, suspicious };
  if (puzzle) return { kind: 'puzzle', extraDifficulty: 0, suspicious };
  return { kind: 'pow', extraDifficulty: INSTEAD_OF_PICTURES_DIFFICULTY, suspicious };
}

/** The kind that reaches a level: a proof of work alone never reaches 2. */
export function kindOfLevel({ puzzle, image }: SiteDemand, level: number): ChallengeKind {
  return level < 2 ? 'pow' : image && !puzzle ? 'image' : 'puzzle';
}

/** The lowest level that counts: the site's, and that of an instance's clearances. */
export function levelWanted(site: SiteDemand, instance: InstanceDemand | null): number {
  return Math.max(site.minimumLevel, instance?.clearanceLevel ?? 0);
}

/**
 * What site and instance demand of a session at its score. `eased`: an access rule or the context of the visitor asks
 * for less than the site does, so that only the instance's own rows and the level remain.
 */
export function demandAt(site: SiteDemand, instance: InstanceDemand, score: number, eased = false): Demand {
  const own = siteKindAt(eased ? { ...site, captchaType: 'pow' } : site, score);
  const row = difficultyAt(instance.challengeDifficulty, score);
  const level = levelWanted(site, instance);
  const kind = harsher(harsher(own.kind, row?.captchaType), kindOfLevel(site, level));
  const work = eased ? 1 : site.powDifficulty + own.extraDifficulty;
  return {
    kind,
    powDifficulty: Math.min(POW_DIFFICULTY_MAX, Math.max(work, row?.powDifficulty ?? 0)),
    mayWait: level === 0 && kind === 'pow' && !own.suspicious && score < instance.challengeThreshold,
  };
}

/** The row with the highest `minScore` that the score reaches. Rows may be in any order. `null`: the score reaches none. */
export function difficultyAt(rows: readonly ChallengeDifficultyRow[], score: number): ChallengeDifficultyRow | null {
  let found: ChallengeDifficultyRow | null = null;
  for (const row of rows) {
    if (row.minScore <= score && (found === null || row.minScore > found.minScore)) found = row;
  }
  return found;
}
