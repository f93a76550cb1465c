/**
 * What names a Protect instance (interface document 2.7), beside how it behaves. Apart from `instance.ts`, because
 * the edge carries that and never asks for this.
 */
import * as z from 'zod/mini';
import type { InstancePolicy } from './instance.ts';

export const instanceIdentity = z.strictObject({
  name: z.string().check(z.minLength(1), z.maxLength(256)),
  /** Host name of the protected site; unique among active instances. */
  cname: z.string().check(z.minLength(1), z.maxLength(255)),
  globalSiteKey: z.string().check(z.minLength(1), z.maxLength(256)),
});

export interface ProtectInstance extends z.infer<typeof instanceIdentity>, InstancePolicy {
  id: string;
  active: boolean;
  /** Client JWTs issued at or before this moment are refused; epoch milliseconds, or `null`. */
  clientJwtsRevokedBefore: number | null;
  createdAt: number;
  updatedAt: number;
}
