/**
 * How much a visitor uses a page from one moment on: counts and times only. Typed text, keys and pointer positions never
 * leave the page.
 */
import { TELEMETRY_COUNT_MAX, TELEMETRY_ELAPSED_MAX_MS } from '../../contract/edge/page-report-names.ts';
import type { TelemetryReport } from '../../contract/edge/page-reports.ts';

/** A real pointer that goes this far is seen on the way, because browsers report a move once a frame. */
const LEAP_MIN_PX = 40;
const LEAP_MAX_MOVES = 2;

export const inputKinds = {
  pointermove: 'pointerMoves',
  pointerdown: 'presses',
  keydown: 'keys',
  wheel: 'wheels',
  scroll: 'scrolls',
} as const;

const NONE = { pointerMoves: 0, presses: 0, touches: 0, leaps: 0, keys: 0, wheels: 0, scrolls: 0, untrusted: 0 };

export class PageUse {
  readonly #startedMs = performance.now();
  readonly #counts = { ...NONE };
  readonly #typing = new TypingRhythm();
  #firstInteractionMs: number | null = null;
  /** Where the mouse was last pressed, and the moves counted before that. */
  #press: { x: number; y: number; moves: number } | null = null;
  #visibleMs = 0;
  #visibleSinceMs = document.visibilityState === 'visible' ? this.#startedMs : null;

  count(event: Event): void {
    const kind = inputKinds[event.type as keyof typeof inputKinds];
    // A window that opens under the pointer reports the pointer's position although it did not move.
    if (event.type === 'pointermove' && isStill(event as PointerEvent)) return;
    // Pages scroll by script, and libraries dispatch scroll events of their own.
    if (!event.isTrusted) this.#counts.untrusted += kind === 'scrolls' ? 0 : 1;
    else {
      this.#counts[kind]++;
      if (event instanceof KeyboardEvent) this.#typing.add(event);
      if (kind === 'presses') this.#countPress(event as PointerEvent);
      if (kind !== 'scrolls') this.#firstInteractionMs ??= this.#elapsedMs();
    }
  }

  /** The page was hidden or shown. A page behind other windows counts as visible. */
  turn(): void {
    if (this.#visibleSinceMs !== null) this.#visibleMs += performance.now() - this.#visibleSinceMs;
    this.#visibleSinceMs = document.visibilityState === 'visible' ? performance.now() : null;
  }

  /** Changes with every counted event. */
  state(): string {
    return JSON.stringify(this.#counts);
  }

  report(): Omit<TelemetryReport, 'v' | 'traits'> {
    const elapsedMs = this.#elapsedMs();
    const since = this.#visibleSinceMs;
    const visibleMs = Math.round(this.#visibleMs + (since === null ? 0 : performance.now() - since));
    const capped = Object.fromEntries(
      Object.entries(this.#counts).map(([name, value]) => [name, Math.min(value, TELEMETRY_COUNT_MAX)]),
    ) as typeof NONE;
    return {
      elapsedMs,
      visibleMs: Math.min(visibleMs, elapsedMs),
      firstInteractionMs: this.#firstInteractionMs,
      ...capped,
      ...this.#typing.summary(),
    };
  }

  #elapsedMs(): number {
    return Math.min(Math.round(performance.now() - this.#startedMs), TELEMETRY_ELAPSED_MAX_MS);
  }

  #countPress({ pointerType, clientX: x, clientY: y }: PointerEvent): void {
    const moves = this.#counts.pointerMoves;
    if (pointerType !== 'mouse') this.#counts.touches++;
    else {
      const press = this.#press;
      const seen = press === null || moves - press.moves > LEAP_MAX_MOVES;
      if (!seen && Math.hypot(x - press.x, y - press.y) >= LEAP_MIN_PX) this.#counts.leaps++;
      this.#press = { x, y, moves };
    }
  }
}

function isStill({ isTrusted, pointerType, movementX, movementY }: PointerEvent): boolean {
  return isTrusted && pointerType === 'mouse' && movementX === 0 && movementY === 0;
}

/** A longer pause is not typing. */
const PAUSE_MS = 2000;

interface KeyPress {
  /** One character, or the name of another key. */
  key: string;
  repeat: boolean;
  timeStamp: number;
}

/**
 * How evenly a visitor types: mean and deviation of the times between keys, two numbers for a whole page. A program
 * types at one pace. Only times between two different characters count, because holding or repeating a key is even
 * too. The characters are compared here and never leave the page.
 */
export class TypingRhythm {
  #key = '';
  #atMs = Number.NEGATIVE_INFINITY;
  #gaps = 0;
  #sumMs = 0;
  #squares = 0;

  add({ key, repeat, timeStamp }: KeyPress): void {
    if (key.length > 1) return;
    const gapMs = timeStamp - this.#atMs;
    if (!repeat && key !== this.#key && gapMs < PAUSE_MS) {
      this.#gaps++;
      this.#sumMs += gapMs;
      this.#squares += gapMs * gapMs;
    }
    this.#key = key;
    this.#atMs = timeStamp;
  }

  summary(): { keyGaps: number; keyGapMeanMs: number; keyGapDeviationMs: number } {
    const count = Math.max(this.#gaps, 1);
    const mean = this.#sumMs / count;
    const variance = Math.max(this.#squares / count - mean * mean, 0);
    return {
      keyGaps: Math.min(this.#gaps, TELEMETRY_COUNT_MAX),
      keyGapMeanMs: Math.round(mean),
      keyGapDeviationMs: Math.round(Math.sqrt(variance)),
    };
  }
}
