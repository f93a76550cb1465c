/**
 * What the protect script reports about a session: counts, times and traits. No content leaves the page: not which keys
 * were pressed, not what was typed, not where the pointer went. The page sends it to `POST /__protect/telemetry`, and
 * the edge passes it on for the session in the visitor's cookie. See docs/privacy.md.
 */
import * as z from 'zod/mini';
import { TELEMETRY_COUNT_MAX, TELEMETRY_ELAPSED_MAX_MS } from './telemetry-limits.ts';

/**
 * Signs of a driven browser. `webdriver`: the browser says so. `automation-global`: a driver left its objects.
 * `headless-agent`: the user agent names a headless build. `no-languages`, `zero-window`: something that a person's
 * browser always has is missing. `patched-webdriver`: the property was changed or removed. `brands-mismatch`: the user agent and the browser's list of brands
 * differ. `no-chrome-object`, `no-plugins`: something that Chrome with a window has is missing. `cdp-pointer`: pointer
 * events at a place on the screen that the window's frame makes impossible, or pressed without pressure, as the debugging
 * protocol sends them. `debugger`: that protocol listens to the page; `developer-tools`: the same, beside a panel in the
 * window. `instant-presses`: mouse buttons were released at once.
 */
export const telemetryTraits = [
  'webdriver',
  'automation-global',
  'headless-agent',
  'no-languages',
  'zero-window',
  'patched-webdriver',
  'brands-mismatch',
  'no-chrome-object',
  'no-plugins',
  'cdp-pointer',
  'debugger',
  'developer-tools',
  'instant-presses',
] as const;
export type TelemetryTrait = (typeof telemetryTraits)[number];

const count = z.int().check(z.gte(0), z.lte(TELEMETRY_COUNT_MAX));
const milliseconds = z.int().check(z.gte(0), z.lte(TELEMETRY_ELAPSED_MAX_MS));

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
});
export type TelemetryReport = z.infer<typeof telemetryReport>;
