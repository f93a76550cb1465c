/**
 * The response token: proof that a challenge was solved, opaque to the page that carries it. It has the jti of its
 * challenge and a purpose of its own, so that a challenge is never accepted as a token.
 */
import { numberField, readNumber } from './field-encoding.ts';
import { CLOCK_SKEW_MS, type Keyring } from './keyring.ts';
import { seal, unseal } from './seal.ts';
import { type ChallengeLane, COURSE_FIELDS, courseFields, readCourse, type SealedCourse } from './sealed-course.ts';

export interface SealedToken extends SealedCourse {
  /** 0 wait and local lanes, 1 a proof of work, 2 four times the work, with an image, a puzzle or a recording: a price (`level-prices.ts`). */
  level: number;
  /** Epoch milliseconds: of the first issue of the challenge, of its solution, and of the token's expiry. */
  issuedAt: number;
  solvedAt: number;
  expiresAt: number;
}

/** The course and four of its own. */
const FIELDS = COURSE_FIELDS + 4;

/** The level of a solved challenge. The wait lane never counts as work. */
export function levelOfLane(lane: ChallengeLane): number {
  return lane === 'wait' ? 0 : lane === 'rsw' || lane === 'sha256' ? 1 : 2;
}

export function sealToken(keyring: Keyring, token: SealedToken): Promise<string> {
  const { level, issuedAt, solvedAt, expiresAt } = token;
  const own = [level, issuedAt, solvedAt, expiresAt].map(numberField);
  return seal(keyring, 'token', [...courseFields(token), ...own], solvedAt);
}

/** `null`: not sealed by this deployment, changed, or from the future. The caller checks expiry. */
export async function openToken(keyring: Keyring, text: string, nowMs: number): Promise<SealedToken | null> {
  const fields = await unseal(keyring, 'token', text, FIELDS, nowMs);
  if (fields === null) return null;
  const course = readCourse(fields);
  const [level, issuedAt, solvedAt, expiresAt] = fields.slice(COURSE_FIELDS).map(readNumber);
  if (course === null || level == null || issuedAt == null || solvedAt == null || expiresAt == null) return null;
  if (solvedAt > nowMs + CLOCK_SKEW_MS) return null;
  return { ...course, level, issuedAt, solvedAt, expiresAt };
}
