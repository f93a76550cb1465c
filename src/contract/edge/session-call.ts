/**
 * What a page posts to `/__protect/session`. The first call names what the browser can run and gets a challenge
 * (`session-challenge.ts`); the second has its solution and the report of the browser, and opens the session. Either
 * renews a session of the visitor that can be renewed.
 */
import * as z from 'zod/mini';
import { environmentReport } from './environment-report.ts';

/** A seal of this kind has about 400 characters, and 2,000 with the salts of the SHA-256 lane. */
const CHALLENGE_MAX_CHARS = 8192;
/** An RSW answer has 342 characters, 63 counters have 336. */
const SOLUTION_MAX_CHARS = 512;
const solutionText = z.optional(z.string().check(z.maxLength(SOLUTION_MAX_CHARS)));

export const sessionCall = z.strictObject({
  /** Without BigInt the work is another, and not less. */
  capabilities: z.optional(z.strictObject({ bigint: z.boolean() })),
  challenge: z.optional(z.string().check(z.minLength(1), z.maxLength(CHALLENGE_MAX_CHARS))),
  /** Lane `rsw`: `y`; lane `sha256`: `counters`. */
  solution: z.optional(z.strictObject({ y: solutionText, counters: solutionText })),
  environment: z.optional(environmentReport),
});
export type SessionCall = z.infer<typeof sessionCall>;
