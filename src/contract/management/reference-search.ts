/** The verdicts that a reference can be of: one for the whole reference, a few for its short form. See docs/verdict-log.md. */
import * as z from 'zod/mini';
import { returnedVerdict } from './returned-verdict.ts';
import { SHORT_REFERENCE } from '../edge/short-reference.ts';
import { siteKeyField } from './verdict-query.ts';

/** Verdicts of one answer. A short form has more only where one instance logs a million requests a minute. */
export const FOUND_VERDICTS_MAX = 20;

const WHOLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whole, or short in its one spelling. */
const anyReference = z.pipe(
  z.pipe(
    z.string().check(z.maxLength(100)),
    z.transform((text) => {
      const trimmed = text.trim().toLowerCase();
      const short = SHORT_REFERENCE.exec(trimmed);
      return short === null ? trimmed : `${short[1]}-${short[2]}`;
    }),
  ),
  z
    .string()
    .check(
      z.refine(
        (text) => WHOLE.test(text) || SHORT_REFERENCE.test(text),
        'must be the reference of a request: 36 characters, or its short form like 09a6-b6ba',
      ),
    ),
);

export const referenceSearchRequest = z.strictObject({
  /** As on the gate's pages, whole or short. */
  reference: anyReference,
  /** Without it, every active instance of the account is searched. */
  siteKey: siteKeyField,
});

export const referenceSearchResponse = z.object({
  /** Newest first, at most 20. */
  verdicts: z.array(returnedVerdict),
  /** `false`: there are more, or the window has more verdicts than one search reads. */
  isComplete: z.boolean(),
});
