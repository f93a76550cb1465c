/** A channel as the API returns it: never with its address, which is a secret, but with the host of it. */
import * as z from 'zod/mini';
import { alertKinds, channelShapes, quietHours } from '../../../contract/management/alerts.ts';
import { OperationError } from '../operation-error.ts';

export const channelId = z.string().check(z.minLength(1), z.maxLength(64));

export const alertChannel = z.object({
  id: z.string(),
  name: z.string(),
  shape: z.enum(channelShapes),
  /** Of the address. */
  host: z.string(),
  kinds: z.array(z.enum(alertKinds)),
  quietHours: z.nullable(quietHours),
  enabled: z.boolean(),
  createdAt: z.int(),
  updatedAt: z.int(),
  formerSecretUntil: z.nullable(z.int()),
});

export function noSuchChannel(): OperationError {
  return new OperationError('API.NOT_FOUND', 'The account has no alert channel with this id');
}
