/** `POST /protect/client-jwt/revoke`: revokes one client JWT by its `jti`, from the next call of the edge on. */
import * as z from 'zod/mini';
import { revokeClientJwt as revoke } from '../../../../store/d1/client-jwts.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { instanceId, ownInstance } from './instance-response.ts';

export const revokeClientJwt = operation({
  name: 'revoke-client-jwt',
  method: 'POST',
  path: '/protect/client-jwt/revoke',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Revoke one client JWT',
  body: z.strictObject({ protectInstanceId: instanceId, jti: z.string().check(z.minLength(1), z.maxLength(128)) }),
  response: z.object({ success: z.literal(true), jti: z.string() }),
  async handler(context) {
    const { store, body, nowMs } = context;
    const instance = await ownInstance(context, body.protectInstanceId);
    if (!(await revoke(store, instance.id, body.jti, nowMs))) {
      throw new OperationError('API.NOT_FOUND', 'The instance has no client JWT with this jti');
    }
    return { success: true, jti: body.jti };
  },
});
