/**
 * How evenly somebody types: the mean of the times between keys and their deviation, two numbers for a whole page.
 * A program types at one pace. Times between two different characters only: whoever holds a key down or taps one
 * again and again is even too. Which keys they were is compared here and never told.
 */
import { TELEMETRY_COUNT_MAX } from '../../contract/edge/telemetry-limits.ts';

/** A longer pause is thought, not typing. */
const PAUSE_MS = 2000;

interface KeyPress {
  /** One character, or the name of another key. */
  key: string;
  repeat: boolean;
  timeStamp: number;
}

export class TypingRhythm {
  #key = '';
  #at = Number.NEGATIVE_INFINITY;
  #gaps = 0;
  #sum = 0;
  #squares = 0;

  add({ key, repeat, timeStamp }: KeyPress): void {
    if (key.length > 1) return;
    const gap = timeStamp - this.#at;
    if (!repeat && key !== this.#key && gap < PAUSE_MS) {
      this.#gaps++;
      this.#sum += gap;
      this.#squares += gap * gap;
    }
    this.#key = key;
    this.#at = timeStamp;
  }

  summary(): { keyGaps: number; keyGapMeanMs: number; keyGapDeviationMs: number } {
    const count = Math.max(this.#gaps, 1);
    const mean = this.#sum / count;
    const variance = Math.max(this.#squares / count - mean * mean, 0);
    return {
      keyGaps: Math.min(this.#gaps, TELEMETRY_COUNT_MAX),
      keyGapMeanMs: Math.round(mean),
      keyGapDeviationMs: Math.round(Math.sqrt(variance)),
    };
  }
}
