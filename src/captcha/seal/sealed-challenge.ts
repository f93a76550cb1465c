/**
 * What a challenge carries: everything the service needs to judge a solution, so that it stores nothing until a token
 * is spent. The order of the fields is the format; changing it changes the version in `seal.ts`. The answer itself is
 * never inside, only a keyed tag over it and over all other fields.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import * as z from 'zod/mini';
import { puzzleLookChange } from '../../contract/management/site-settings.ts';
import { jsonField, numberField, readJson, readNumber } from './field-encoding.ts';
import type { Keyring } from './keyring.ts';
import { openAnswered, type OpenedTask, sealAnswered } from './sealed-answer.ts';
import { COURSE_FIELDS, courseFields, readCourse, type SealedCourse } from './sealed-course.ts';

/** What judging needs beside the answer. Bounded, and read only after the seal has opened. */
export const challengeParams = z.strictObject({
  /** rsw: squarings. */
  t: z.optional(z.int()),
  /** sha256: salts, base64url, and bits each. */
  salt: z.optional(z.string()),
  bits: z.optional(z.int()),
  /** rsw, sha256: half steps that solved challenges added to the price (`SolvedPrice`). None: they add nothing. */
  steps: z.optional(z.int()),
  /** wait: epoch milliseconds from which a solution is accepted. */
  notBefore: z.optional(z.int()),
  /** Proof of work that comes before a picture or a recording: the lane that follows it. */
  afterwards: z.optional(z.enum(['visual', 'audio'])),
  /** Picture or recording: the work beside it that the visitor still has to do. `t`, `salt` and `bits` are its own. */
  beside: z.optional(z.strictObject({ lane: z.enum(['rsw', 'sha256']), powDifficulty: z.number() })),
  /** The visitor has changed between pictures and sound, which one challenge allows once. */
  switched: z.optional(z.boolean()),
  /** image: rounds that count, rounds before them that do not, the share needed, tiles judged and right so far. */
  rounds: z.optional(z.int()),
  uncounted: z.optional(z.int()),
  threshold: z.optional(z.number()),
  judged: z.optional(z.int()),
  right: z.optional(z.int()),
  /** Round in which the current try began, and tries that failed. */
  startedAtRound: z.optional(z.int()),
  failures: z.optional(z.int()),
  /** puzzle: pixels the piece may be off, and how hard the picture is. */
  tolerance: z.optional(z.int()),
  hardness: z.optional(z.int()),
  /** puzzle: how the picture differs from the site's own look, in every round. */
  look: z.optional(puzzleLookChange),
});
export type ChallengeParams = z.infer<typeof challengeParams>;

export interface SealedChallenge extends SealedCourse {
  issuedAt: number;
  expiresAt: number;
  /** From 0. */
  round: number;
  params: ChallengeParams;
}

/** The course and four of its own. The seal adds the answer's tag. */
const FIELDS = COURSE_FIELDS + 4;

/** `answer`: the canonical bytes of the right answer; `null` where judging is not a comparison. */
export function sealChallenge(
  keyring: Keyring,
  challenge: SealedChallenge,
  answer: Uint8Array | null,
): Promise<string> {
  return sealAnswered(keyring, 'challenge', fieldsOf(challenge), answer, challenge.issuedAt);
}

export type OpenedChallenge = OpenedTask<SealedChallenge>;

/** `null`: not sealed by this deployment, changed, or from the future. The caller checks expiry. */
export function openChallenge(keyring: Keyring, text: string, nowMs: number): Promise<OpenedChallenge | null> {
  return openAnswered(keyring, 'challenge', text, nowMs, { count: FIELDS, read: challengeOf });
}

function fieldsOf(challenge: SealedChallenge): Bytes[] {
  return [
    ...courseFields(challenge),
    numberField(challenge.issuedAt),
    numberField(challenge.expiresAt),
    numberField(challenge.round),
    jsonField(challenge.params),
  ];
}

function challengeOf(fields: readonly Bytes[]): SealedChallenge | null {
  const course = readCourse(fields);
  const own = fields.slice(COURSE_FIELDS);
  const [issuedAt, expiresAt, round] = own.slice(0, 3).map(readNumber);
  const params = challengeParams.safeParse(readJson(own[3]!));
  if (course === null || issuedAt == null || expiresAt == null || round == null || !params.success) return null;
  return { ...course, issuedAt, expiresAt, round, params: params.data };
}
