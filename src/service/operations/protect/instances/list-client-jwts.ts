/** `POST /protect/client-jwt/list`: the client JWTs of an instance, newest first, without the tokens. */
import * as z from 'zod/mini';
import { clientJwtsOfInstance } from '../../../../store/d1/client-jwts.ts';
import { operation } from '../../define-operation.ts';
import { CLIENT_JWTS_LISTED_MAX, clientJwtStatus, clientJwtStatuses } from './client-jwt-status.ts';
import { instanceId, ownInstance } from './instance-response.ts';

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
        status: z.enum(clientJwtStatuses),
      }),
    ),
  }),
  async handler(context) {
    const instance = await ownInstance(context, context.body.protectInstanceId);
    const records = await clientJwtsOfInstance(context.store, instance.id, CLIENT_JWTS_LISTED_MAX);
    return {
      clientJwts: records.map((record) => ({
        jti: record.jti,
        protectInstanceId: instance.id,
        issuedAt: record.issuedAt,
        expiresAt: record.expiresAt,
        revokedAt: record.revokedAt,
        status: clientJwtStatus(record, instance, context.nowMs),
      })),
    };
  },
});
