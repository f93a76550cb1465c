/**
 * A batch of verdict records, and which records it holds: the isolate that numbered them and the first and the last number.
 * Edges and queue messages say it, so that the log can tell a repeated batch by its range, and knows what is still on its
 * way. A sender may leave all of it out; then the records say what they are.
 */
import * as z from 'zod/mini';
import { VERDICT_BATCH_MAX_RECORDS } from './record-bounds.ts';

const seq = z.int().check(z.nonnegative());

const batchRangeFields = {
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
function hasSoundRange(given: GivenRange): boolean {
  const range = rangeOf(given);
  if (range !== null) return range.firstSeq <= range.lastSeq;
  return [given.isolate, given.firstSeq, given.lastSeq, given.held].every((field) => field === undefined);
}

/**
 * `POST /edge/v1/verdicts`. Records are checked one by one, so that one bad record does not cost the others.
 * Counters are what this isolate counted since its last batch, by name and label.
 */
export const verdictBatch = z
  .strictObject({
    /** The same at every retry, so that the counters of a repeated batch count once. */
    batchId: z.optional(z.string().check(z.minLength(1), z.maxLength(64))),
    ...batchRangeFields,
    records: z.array(z.unknown()).check(z.maxLength(VERDICT_BATCH_MAX_RECORDS)),
    counters: z._default(
      z.record(z.string().check(z.regex(/^[a-z][a-z0-9_]{0,63}(\{[a-z_]+="[^"\\]{0,64}"\})?$/)), z.number()),
      {},
    ),
  })
  .check(z.refine(hasSoundRange, 'isolate, firstSeq, lastSeq and held: all or none, and firstSeq first'));

/** Body of one message on the verdict queue. Only Workers of the same Cloudflare account can send one. */
export const verdictMessage = z
  .object({
    batchId: z.string().check(z.minLength(1), z.maxLength(64)),
    instanceId: z.string().check(z.minLength(1), z.maxLength(256)),
    ...batchRangeFields,
    records: z.array(z.unknown()).check(z.maxLength(VERDICT_BATCH_MAX_RECORDS)),
    counters: z.record(z.string(), z.number()),
  })
  .check(z.refine(hasSoundRange));
export type VerdictMessage = z.infer<typeof verdictMessage>;
