/** `POST /protect/access-rules/rollback`: restores the rules of an earlier version, as a new version. */
import * as z from 'zod/mini';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { ifVersion } from '../../stale-write.ts';
import { instanceRuleBook, refusedWrite, siteKey } from './instance-rule-book.ts';

export const rollbackAccessRules = operation({
  name: 'rollback-access-rules',
  method: 'POST',
  path: '/protect/access-rules/rollback',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Restore the edge access rules of an earlier version',
  body: z.strictObject({
    siteKey,
    version: z.int().check(z.gte(0)),
    /** The version that this change was made for. If it is another one by now, nothing changes: 409. */
    ifVersion,
  }),
  response: z.object({ version: z.int(), restores: z.int(), created: z.int(), updated: z.int(), deleted: z.int() }),
  async handler({ body, ...context }) {
    const { book } = await instanceRuleBook(context, body.siteKey);
    const outcome = await book.rollback(body.version, {
      nowMs: context.nowMs,
      actor: context.principal.id,
      kind: 'rollback',
      ifVersion: body.ifVersion,
    });
    if (outcome.ok) {
      const { version, created, updated, deleted } = outcome.value;
      return { version, restores: body.version, created, updated, deleted };
    }
    const { error } = outcome;
    if (error.reason !== 'out-of-reach') throw refusedWrite(error);
    throw new OperationError('API.NOT_FOUND', `Only versions ${error.oldest} to ${error.newest} can be restored`);
  },
});
