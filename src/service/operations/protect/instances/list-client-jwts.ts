/** `POST /protect/client-jwt/list`: the client JWTs of an instance, newest first, without the tokens. */
import * as z from 'zod/mini';
import { clientJwtsOfInstance } from '../../../../store/d1/client-jwts.ts';
import { operation } from '../../define-operation.ts';
import { instanceId, ownInstance } from './instance-response.ts';

/** Far more than regular rotation leaves. */
const LISTED_MAX = 1000;

export const listClientJwts = operation({
  name: 'list-client-jwts',
  method: 'POST',
  path: '/protect/client-jwt/list',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List issued client JWTs',
  body: z.strictObject({ protectInstanceId: instanceId }),
  response: z.object({
    clientJwts: z.array(
      z.object({
        jti: z.string(),
        protectInstanceId: z.string(),
        issuedAt: z.int(),
        expiresAt: z.int(),
        revokedAt: z.nullable(z.int()),
        status: z.enum(['active', 'expired', 'revoked']),
      }),
    ),
  }),
  async handler(context) {
    const instance = await ownInstance(context, context.body.protectInstanceId);
    const records = await clientJwtsOfInstance(context.store, instance.id, LISTED_MAX);
    const revokedBefore = instance.clientJwtsRevokedBefore ?? -1;
    return {
      clientJwts: records.map(({ jti, issuedAt, expiresAt, revokedAt }) => {
        const revoked = revokedAt !== null || issuedAt <= revokedBefore;
        const status = revoked ? 'revoked' : expiresAt <= context.nowMs ? 'expired' : 'active';
        return { jti, protectInstanceId: instance.id, issuedAt, expiresAt, revokedAt, status };
      }),
    };
  },
});
