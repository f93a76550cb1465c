/**
 * `POST /protect/client-jwt/generate` (interface document 4.8): the JWT an edge Worker authenticates with. It is
 * shown once; what is kept is its `jti`, to list and to revoke.
 */
import * as z from 'zod/mini';
import { CLIENT_JWT_WEEKS_MAX, issueClientJwt } from '../../../../store/d1/issue-client-jwt.ts';
import { operation } from '../../define-operation.ts';
import { instanceId, ownInstance } from './instance-response.ts';

export const generateClientJwt = operation({
  name: 'generate-client-jwt',
  method: 'POST',
  path: '/protect/client-jwt/generate',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Issue the JWT an edge Worker authenticates with',
  body: z.strictObject({
    protectInstanceId: instanceId,
    /** 0 means effectively unlimited (100 years). */
    expiresInWeeks: z.int().check(z.gte(0), z.lte(CLIENT_JWT_WEEKS_MAX)),
  }),
  response: z.object({
    clientJwt: z.string(),
    jti: z.string(),
    protectInstanceId: z.string(),
    issuedAt: z.int(),
    expiresAt: z.int(),
  }),
  async handler(context) {
    const { store, body, nowMs, serviceUrl } = context;
    const instance = await ownInstance(context, body.protectInstanceId);
    const issued = await issueClientJwt(store, serviceUrl, instance.id, body.expiresInWeeks, nowMs);
    return { ...issued, protectInstanceId: instance.id };
  },
});
