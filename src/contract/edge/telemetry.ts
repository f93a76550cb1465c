/**
 * What the protect script reports of a session (design 6): counts, times and traits, no content. Which keys
 * were pressed, what was typed and where the pointer went never leave the page. Sent by the page to
 * `POST /__protect/telemetry`; the edge passes it on for the session in the visitor's cookie.
 */
import * as z from 'zod/mini';
import { TELEMETRY_COUNT_MAX, TELEMETRY_ELAPSED_MAX_MS } from './telemetry-limits.ts';

/**
 * Signs of a driven browser. `webdriver`: the browser says so. `automation-global`: a driver left its
 * objects. `headless-agent`: the user agent names a headless build. `no-languages`, `zero-window`: what
 * a person's browser always has. `patched-webdriver`: the property was tampered with, or taken away.
 * `patched-native`: a built-in that tells of a driver is no built-in any more. `brands-mismatch`: the user
 * agent and the browser's own list of brands differ. `no-chrome-object`, `no-plugins`: what Chrome with a
 * window has. `cdp-pointer`: pointer events at a place on the
 * screen that the window's own frame makes impossible, as the debugging protocol sends them.
 */
export const telemetryTraits = [
  'webdriver',
  'automation-global',
  'headless-agent',
  'no-languages',
  'zero-window',
  'patched-webdriver',
  'patched-native',
  'brands-mismatch',
  'no-chrome-object',
  'no-plugins',
  'cdp-pointer',
] as const;
export type TelemetryTrait = (typeof telemetryTraits)[number];

const count = z.int().check(z.gte(0), z.lte(TELEMETRY_COUNT_MAX));
const milliseconds = z.int().check(z.gte(0), z.lte(TELEMETRY_ELAPSED_MAX_MS));

export const telemetryReport = z.strictObject({
  v: z.literal(1),
  /** Since the page was opened. */
  elapsedMs: milliseconds,
  /** Of these, in sight: not in a tab behind another. */
  visibleMs: milliseconds,
  /** Until the first trusted pointer, touch, wheel or key event; `null` while there was none. */
  firstInteractionMs: z.nullable(milliseconds),
  pointerMoves: count,
  presses: count,
  /** Presses by finger or pen. */
  touches: count,
  /** Presses of the mouse far from the one before, where it was never seen on the way. */
  leaps: count,
  keys: count,
  /** Turns of the mouse wheel. */
  wheels: count,
  scrolls: count,
  /** Events of those kinds but scrolling that were made by script, which people's hands do not make. */
  untrusted: count,
  /** Times between two different keys, pauses left out: how many, their mean and their deviation. */
  keyGaps: count,
  keyGapMeanMs: milliseconds,
  keyGapDeviationMs: milliseconds,
  traits: z.array(z.enum(telemetryTraits)).check(z.maxLength(telemetryTraits.length)),
});
export type TelemetryReport = z.infer<typeof telemetryReport>;
