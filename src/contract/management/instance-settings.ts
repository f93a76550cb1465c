/**
 * Everything that an operator sets for a Protect instance: what its edges enforce (`instancePolicy`), and what only the
 * service applies. Kept apart, because the edge carries the schema of the first and has no use for the rest.
 */
import * as z from 'zod/mini';
import { riskDetectors } from '../edge/risk-detectors.ts';
import { writtenPolicy } from './older-words.ts';

/** All fields are optional on create and update. A field that a stored or foreign instance lacks gets its default. */
export const instanceSettings = z.strictObject({
  ...writtenPolicy.shape,
  /** Lifetime of a session. */
  jtiExpirySeconds: z._default(z.int().check(z.gte(300), z.lte(31_536_000)), 86_400),
  /** Cookie resets within the window that count as suspicious. */
  cookieCycling: z._default(
    z.strictObject({
      threshold: z.int().check(z.gte(1), z.lte(1000)),
      windowSeconds: z.int().check(z.gte(60), z.lte(86_400)),
    }),
    { threshold: 5, windowSeconds: 3600 },
  ),
  /** `counts`: allow verdicts are counted and not kept as rows. */
  allowVerdicts: z._default(z.enum(['rows', 'counts']), 'rows'),
  retentionDays: z._default(z.int().check(z.gte(1), z.lte(730)), 30),
  /** Detectors that count nothing here, because this site's own visitors trip them. See docs/risk.md. */
  ignoredDetectors: z._default(z.array(z.enum(riskDetectors)).check(z.maxLength(riskDetectors.length)), []),
});
export type InstanceSettings = z.infer<typeof instanceSettings>;

/**
 * What a new instance has where its creation says nothing: it enforces nothing until the operator has read the log, and
 * its pages carry the script that opens sessions, without which visitors could not submit a form. The API, the commands
 * and the local stack all create instances with this schema.
 */
export const newInstanceSettings = z.strictObject({
  ...instanceSettings.shape,
  monitor: z._default(z.boolean(), true),
  autoInject: z._default(z.boolean(), true),
});
