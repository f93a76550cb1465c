/**
 * `POST /audit-trail/get`: who changed what through the management API, newest first. Bodies
 * are kept without secrets, so its permission shows no key.
 */
import * as z from 'zod/mini';
import { managementAuditPage } from '../../../store/d1/management-audit.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;

export const getAuditTrail = operation({
  name: 'get-audit-trail',
  method: 'POST',
  path: '/audit-trail/get',
  feature: 'API',
  permission: 'getAuditTrail',
  access: 'read',
  summary: 'Read the audit trail of management writes',
  body: z.strictObject({
    limit: z._default(z.int().check(z.gte(1), z.lte(LIMIT_MAX)), LIMIT_DEFAULT),
    /** `nextCursor` of the previous page. */
    cursor: z.optional(z.string().check(z.maxLength(128))),
  }),
  response: z.object({
    entries: z.array(
      z.object({
        id: z.string(),
        at: z.int(),
        apiKeyId: z.nullable(z.string()),
        apiKeyName: z.nullable(z.string()),
        userEmail: z.nullable(z.string()),
        operation: z.string(),
        requestId: z.string(),
        ip: z.nullable(z.string()),
        body: z.unknown(),
      }),
    ),
    nextCursor: z.nullable(z.string()),
  }),
  async handler({ store, account, body }) {
    const entries = await managementAuditPage(store, account.id, body.limit, positionOf(body.cursor));
    const last = entries.at(-1);
    return { entries, nextCursor: last && entries.length === body.limit ? `${last.at}.${last.id}` : null };
  },
});

function positionOf(cursor: string | undefined): { at: number; id: string } | null {
  if (cursor === undefined) return null;
  const match = /^(\d{1,15})\.([A-Za-z0-9-]{1,64})$/.exec(cursor);
  if (!match?.[1] || !match[2]) {
    throw new OperationError('API.INVALID_BODY', 'The cursor cannot be read', [
      { path: 'cursor', message: 'must be the nextCursor of an earlier response' },
    ]);
  }
  return { at: Number(match[1]), id: match[2] };
}
