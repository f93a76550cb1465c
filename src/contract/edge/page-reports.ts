/**
 * What a page posts to the gate: to `/__protect/telemetry` what the protect script reports about a session, and to
 * `/__protect/session` what opens or renews one. The edge passes both on. No content leaves the page: not which keys were
 * pressed, not what was typed, not where the pointer went. See docs/privacy.md and docs/risk.md.
 */
import * as z from 'zod/mini';
import {
  ANSWER_MAX_CHARS,
  ANSWERS_MAX,
  telemetryTraits,
  TELEMETRY_COUNT_MAX,
  TELEMETRY_ELAPSED_MAX_MS,
  environmentSigns,
  familyMarks,
  languageFeatures,
  pageSystems,
  renderers,
  scriptEngines,
} from './page-report-names.ts';

const count = z.int().check(z.gte(0), z.lte(TELEMETRY_COUNT_MAX));
const milliseconds = z.int().check(z.gte(0), z.lte(TELEMETRY_ELAPSED_MAX_MS));

/**
 * What was done in the page since its last report, beside how much of it was done as programs do it. `centred`: of mouse
 * presses on an element, those at its exact centre. `straight`: of longer movements of the mouse, those in a straight line.
 * `keyless`: of fields that text was put into, those that got it at once and without a key.
 */
const handCounts = z.strictObject({
  presses: count,
  centred: count,
  strokes: count,
  straight: count,
  entries: count,
  keyless: count,
});
export type HandCounts = z.infer<typeof handCounts>;

export const telemetryReport = z.strictObject({
  v: z.literal(1),
  /** Since the page was opened, or since its session was if that came later. */
  elapsedMs: milliseconds,
  /** Of these, how long the page was visible and not in a background tab. */
  visibleMs: milliseconds,
  /** Until the first trusted pointer, touch, wheel or key event; `null` while there was none. */
  firstInteractionMs: z.nullable(milliseconds),
  pointerMoves: count,
  presses: count,
  /** Presses by finger or pen. */
  touches: count,
  /** Mouse presses far from the one before, with no movement in between. */
  leaps: count,
  keys: count,
  /** Turns of the mouse wheel. */
  wheels: count,
  scrolls: count,
  /** Events of those kinds, scrolling excepted, that a script made. */
  untrusted: count,
  /** Times between two different keys, without pauses: how many, their mean and their deviation. */
  keyGaps: count,
  keyGapMeanMs: milliseconds,
  keyGapDeviationMs: milliseconds,
  traits: z.array(z.enum(telemetryTraits)).check(z.maxLength(telemetryTraits.length)),
  /** The page has the marks of an assistant that operates the browser. */
  agent: z.optional(z.literal(true)),
  /** Absent from the script of an older edge. */
  hands: z.optional(handCounts),
});
export type TelemetryReport = z.infer<typeof telemetryReport>;

const text = (maxChars: number) => z.string().check(z.maxLength(maxChars));
const some = <const Names extends readonly string[]>(names: Names) =>
  z.array(z.enum(names)).check(z.maxLength(names.length));

/**
 * What a page finds out about its browser before it opens a session, so that the service can compare it with what the
 * browser claims to be. Yes or no, kinds and versions only: nothing in it tells one person's browser from another's of
 * the same make.
 */
export const environmentReport = z.strictObject({
  v: z.literal(1),
  /** Signs of a driven browser, as telemetry names them. */
  traits: some(telemetryTraits),
  engine: z.enum(scriptEngines),
  marks: some(familyMarks),
  /** A bit for each of `languageFeatures`. */
  features: z.int().check(z.gte(0), z.lt(2 ** languageFeatures.length)),
  /** As the page sees it; compared with the header and not kept. */
  userAgent: text(512),
  system: z.enum(pageSystems),
  /** `navigator.userAgentData`, in the form of the headers; `null` where there is none. */
  hints: z.nullable(z.strictObject({ brands: text(256), mobile: z.boolean(), platform: text(32) })),
  /** `null`: no worker, or one that cannot draw. */
  renderer: z.nullable(z.enum(renderers)),
  signs: some(environmentSigns),
  /** Short hashes, one for each question of the challenge. */
  answers: z.optional(z.array(text(ANSWER_MAX_CHARS)).check(z.maxLength(ANSWERS_MAX))),
});
export type EnvironmentReport = z.infer<typeof environmentReport>;

/** A seal of this kind has about 400 characters, and 2,000 with the salts of the SHA-256 lane. */
const CHALLENGE_MAX_CHARS = 8192;
/** An RSW answer has 342 characters, 63 counters have 336. */
const SOLUTION_MAX_CHARS = 512;
const solutionText = z.optional(z.string().check(z.maxLength(SOLUTION_MAX_CHARS)));

/**
 * The first call names what the browser can run and gets a challenge; the second has its solution and the report of the
 * browser, and opens the session. Either renews a session of the visitor that can be renewed. A call with a solution and
 * without a report is work that an open session does for more pages and calls. A page also sends `load`, the nonce of its
 * load, which the edge checks and takes out.
 */
export const sessionCall = z.strictObject({
  /** Without BigInt the work is another, and not less. */
  capabilities: z.optional(z.strictObject({ bigint: z.boolean() })),
  challenge: z.optional(z.string().check(z.minLength(1), z.maxLength(CHALLENGE_MAX_CHARS))),
  /** Lane `rsw`: `y`; lane `sha256`: `counters`. */
  solution: z.optional(z.strictObject({ y: solutionText, counters: solutionText })),
  environment: z.optional(environmentReport),
  /** The page can work for more: an answer with a session may carry the next piece of work. */
  work: z.optional(z.literal(true)),
});
export type SessionCall = z.infer<typeof sessionCall>;
