/** A verdict record as the management API returns it: always with the sentence that says why. */
import * as z from 'zod/mini';
import { RECORD_TEXT_MAX_CHARS, verdictRecord } from '../edge/verdict-record.ts';

export const returnedVerdict = z.extend(verdictRecord, {
  explain: z.string().check(z.maxLength(RECORD_TEXT_MAX_CHARS)),
});
export type ReturnedVerdict = z.infer<typeof returnedVerdict>;
