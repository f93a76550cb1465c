/** Rebuilding a log from its sealed files: one call is one bounded step. */
import * as z from 'zod/mini';
import { siteKeyField } from './verdict-query.ts';

export const rebuildStreams = ['verdicts', 'captchas', 'telemetry'] as const;

export const rebuildLogRequest = z.strictObject({
  siteKey: siteKeyField,
  stream: z._default(z.enum(rebuildStreams), 'verdicts'),
  cursor: z.optional(z.string().check(z.maxLength(1024))),
});

export const rebuildLogResponse = z.object({
  segments: z.int(),
  rows: z.int(),
  skipped: z.array(z.object({ object: z.string(), reason: z.string() })),
  segmentsLeft: z.nullable(z.int()),
  nextCursor: z.nullable(z.string()),
});
export type RebuildLogResponse = z.infer<typeof rebuildLogResponse>;
