/**
 * The identity of a Protect instance. Kept apart from its behaviour in `instance-policy.ts`, which the edge carries: an edge
 * never needs the identity.
 */
import * as z from 'zod/mini';
import type { InstanceSettings } from './instance-settings.ts';

export const instanceIdentity = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Host name of the protected site; unique among the active instances of an account. */
  cname: z.string().check(z.minLength(1), z.maxLength(255)),
  globalSiteKey: z.string().check(z.minLength(1), z.maxLength(256)),
});

export interface ProtectInstance extends z.infer<typeof instanceIdentity>, InstanceSettings {
  id: string;
  active: boolean;
  /** Client JWTs issued at or before this time are refused. Epoch milliseconds, or `null`. */
  clientJwtsRevokedBefore: number | null;
  version: number;
  createdAt: number;
  updatedAt: number;
}
