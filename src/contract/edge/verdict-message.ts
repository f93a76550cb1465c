/**
 * Body of one message on the verdict queue: edges send it, the service reads it. Kept apart from the edge's sink, which
 * needs the type alone. Only Workers of the same Cloudflare account can send one.
 */
import * as z from 'zod/mini';
import { batchRangeFields, hasSoundRange } from './batch-range.ts';
import { VERDICT_BATCH_MAX_RECORDS } from './record-bounds.ts';

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
