/**
 * Everything that an operator sets for a Protect instance: what its edges enforce (`instancePolicy`), and what only the
 * service applies. Kept apart, because the edge carries the schema of the first and has no use for the rest.
 */
import * as z from 'zod/mini';
import { riskDetectors } from '../edge/risk-detectors.ts';
import { instancePolicy } from './instance-policy.ts';

/** All fields are optional on create and update. */
export const instanceSettings = z.strictObject({
  ...instancePolicy.shape,
  /** Detectors that count nothing here, because this site's own visitors trip them. See docs/risk.md. */
  ignoredDetectors: z._default(z.array(z.enum(riskDetectors)).check(z.maxLength(riskDetectors.length)), []),
});
export type InstanceSettings = z.infer<typeof instanceSettings>;
