/**
 * `POST /protect/client-jwt/generate`: issues the JWT that an edge Worker authenticates with. The token is shown once.
 * Only its `jti` is stored, for listing and revoking.
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
    /** 0 means 100 years, which is practically unlimited. */
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
