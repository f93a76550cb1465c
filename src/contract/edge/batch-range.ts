/**
 * Which records a batch holds: the isolate that numbered them and the first and the last number. Edges and queue
 * messages say it, so that the log can tell a repeated batch by its range, and knows what is still on its way. A sender
 * may leave all of it out; then the records say what they are.
 */
import * as z from 'zod/mini';

const seq = z.int().check(z.nonnegative());

export const batchRangeFields = {
  isolate: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
  firstSeq: z.optional(seq),
  lastSeq: z.optional(seq),
  /** Records that the isolate has numbered after `lastSeq` and not sent yet. */
  held: z.optional(seq),
};

export interface BatchRange {
  isolate: string;
  /** Both inclusive. */
  firstSeq: number;
  lastSeq: number;
  held: number;
}

interface GivenRange {
  isolate?: string | undefined;
  firstSeq?: number | undefined;
  lastSeq?: number | undefined;
  held?: number | undefined;
}

/** `null`: the sender does not say. */
export function rangeOf({ isolate, firstSeq, lastSeq, held }: GivenRange): BatchRange | null {
  if (isolate === undefined || firstSeq === undefined || lastSeq === undefined || held === undefined) return null;
  return { isolate, firstSeq, lastSeq, held };
}

/** All fields or none of them, and the range is not reversed. */
export function hasSoundRange(given: GivenRange): boolean {
  const range = rangeOf(given);
  if (range !== null) return range.firstSeq <= range.lastSeq;
  return [given.isolate, given.firstSeq, given.lastSeq, given.held].every((field) => field === undefined);
}
