/**
 * What a reference leads to: the verdicts that it can be of, one for the whole reference and a few for its short form, and
 * why one logged request was decided as it was. See docs/verdict-log.md.
 */
import * as z from 'zod/mini';
import { returnedVerdict } from '../edge/verdict-record.ts';
import { riskDetectors } from '../edge/risk-detectors.ts';
import { decisions } from '../vocabulary.ts';
import { edgeRuleListed } from './edge-rule.ts';
import { requestReference, siteKeyField } from './verdict-query.ts';
import { SHORT_REFERENCE } from '../edge/short-reference.ts';

export const verdictExplanationRequest = z.strictObject({
  /** The reference on the gate's pages, and `X-Protect-Request-Id`. */
  requestId: requestReference,
  /** Without it, the verdict is looked for in every active instance of the account. */
  siteKey: siteKeyField,
});

const tableInput = z.enum(['network', 'client', 'bot', 'category', 'risk', 'limit', 'policy']);

export const verdictExplanationResponse = z.object({
  verdict: returnedVerdict,
  /** Why, for a person: one to three sentences. */
  headline: z.string(),
  /** The seven inputs in their order. Empty where no table was applied: a failure policy decided, or the gate's own path. */
  table: z.array(
    z.object({
      input: tableInput,
      /** `null`: the input said nothing. */
      verdict: z.nullable(z.enum(decisions)),
      /** Rule id, `category:<name>`, `risk:<verdict>`, `policy:<reason>` or `bot:<id>`. */
      by: z.nullable(z.string()),
      outcome: z.enum(['decided', 'overruled', 'lifted', 'silent']),
      liftedBy: z.nullable(tableInput),
    }),
  ),
  /** What the table decided, before a clearance or another later step. */
  tableDecision: z.nullable(z.enum(decisions)),
  /** The step after the table that made the decision. */
  laterStep: z.nullable(z.enum(['clearance', 'verified', 'exempt', 'preflight', 'no-session', 'internal', 'error'])),
  /** `false`: the request was forwarded all the same, by monitor mode or the instance's rollout. */
  isEnforced: z.boolean(),
  /** What would have happened without what decided. `null`: nothing did, or it is not known. */
  without: z.nullable(z.object({ by: z.string(), decision: z.enum(decisions), decidedBy: z.string() })),
  /** The rules that fired, and what they are now; `null`: deleted since. */
  rules: z.array(
    z.object({
      id: z.string(),
      verdict: z.enum(decisions),
      mode: z.enum(['enforce', 'monitor']),
      now: z.nullable(edgeRuleListed),
    }),
  ),
  /** The detectors behind the risk score. `says`: what each found, as a sentence. */
  riskParts: z.array(z.object({ detector: z.enum(riskDetectors), weight: z.number(), says: z.string() })),
  /** Of the rules now. The record has the version that decided. */
  currentRulesetVersion: z.int(),
  /** `false`: a part of the table follows from the present settings, because the record does not have it. */
  isExact: z.boolean(),
});

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
