/**
 * How evenly a visitor types: mean and deviation of the times between keys, two numbers for a whole page. A program
 * types at one pace. Only times between two different characters count, because holding or repeating a key is even
 * too. The characters are compared here and never leave the page.
 */
import { TELEMETRY_COUNT_MAX } from '../../contract/edge/telemetry-limits.ts';

/** A longer pause is not typing. */
const PAUSE_MS = 2000;

interface KeyPress {
  /** One character, or the name of another key. */
  key: string;
  repeat: boolean;
  timeStamp: number;
}

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
