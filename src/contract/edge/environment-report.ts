/**
 * What the protect script finds out about its browser before it opens a session, so that the service can compare it with
 * what the browser claims to be. Yes or no and short names only: nothing in it tells one person's browser from another's
 * of the same make. The page sends it with `POST /__protect/session`. See docs/privacy.md.
 */
import * as z from 'zod/mini';
import { telemetryTraits } from './telemetry.ts';

export const environmentReport = z.strictObject({
  v: z.literal(1),
  /** Signs of a driven browser, as telemetry names them. */
  traits: z.array(z.enum(telemetryTraits)).check(z.maxLength(telemetryTraits.length)),
});
export type EnvironmentReport = z.infer<typeof environmentReport>;
