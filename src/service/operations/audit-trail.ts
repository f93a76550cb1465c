/** The audit trail of management writes. */
import * as z from 'zod/mini';
import { auditChanges } from '../../contract/management/audit-changes.ts';
import { pageLimit, readTimeCursor, timeCursor, timeCursorField } from './pages.ts';
import { managementAuditPage } from '../../store/d1/management-audit.ts';
import { type Operation, operation } from './define-operation.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 500;

export const auditTrailOperations: readonly Operation[] = [
  /**
   * Who changed what through the management API, newest first. Bodies are kept without secrets, so its permission shows
   * no key.
   */
  operation({
    name: 'get-audit-trail',
    path: '/audit-trail/get',
    feature: 'API',
    permission: 'getAuditTrail',
    access: 'read',
    summary: 'Read the audit trail of management writes',
    body: z.strictObject({
      limit: pageLimit(LIMIT_MAX, LIMIT_DEFAULT),
      /** `nextCursor` of the previous page. */
      cursor: timeCursorField,
    }),
    response: z.object({
      entries: z.array(
        z.object({
          id: z.string(),
          at: z.int(),
          apiKeyId: z.nullable(z.string()),
          apiKeyName: z.nullable(z.string()),
          userEmail: z.nullable(z.string()),
          /** As the person was called then. */
          userName: z.nullable(z.string()),
          operation: z.string(),
          requestId: z.string(),
          ip: z.nullable(z.string()),
          body: z.unknown(),
          /** `null`: not known, as of entries that are older than this field. */
          changes: z.nullable(auditChanges),
        }),
      ),
      nextCursor: z.nullable(z.string()),
    }),
    async handler({ store, account, body }) {
      const entries = await managementAuditPage(store, account.id, body.limit, readTimeCursor(body.cursor));
      return { entries, nextCursor: timeCursor(entries, body.limit) };
    },
  }),
];
