/**
 * `POST /protect/access-rules/delete`: deletes rules by type and value, in any spelling of the value. Idempotent: rules
 * that do not exist are counted and not refused.
 */
import * as z from 'zod/mini';
import { edgeRuleCondition } from '../../../../contract/management/edge-rule.ts';
import { operation } from '../../define-operation.ts';
import { ifVersion } from '../../stale-write.ts';
import { checkedConditions, distinctRules } from './check-rules.ts';
import { refusedWrite, siteKey, writtenRuleBook } from './instance-rule-book.ts';

/** Enough for 10,000 of the longest values. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;

export const deleteAccessRules = operation({
  name: 'delete-access-rules',
  method: 'POST',
  path: '/protect/access-rules/delete',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Remove edge access rules',
  maxBodyBytes: MAX_BODY_BYTES,
  body: z.strictObject({
    conditions: z.array(z.union([z.unknown(), edgeRuleCondition])).check(z.minLength(1)),
    siteKey,
    /** The version that this change was made for. If it is another one by now, nothing changes: 409. */
    ifVersion,
  }),
  response: z.object({ deleted: z.int(), missing: z.int(), version: z.int() }),
  async handler(context) {
    const { book } = await writtenRuleBook(context, context.body);
    const keys = checkedConditions(context.body.conditions);
    const outcome = await book.remove(keys, {
      nowMs: context.nowMs,
      actor: context.principal.id,
      kind: 'delete',
      ifVersion: context.body.ifVersion,
    });
    if (!outcome.ok) throw refusedWrite(outcome.error);
    const { deleted, version } = outcome.value;
    return { deleted, missing: distinctRules(keys) - deleted, version };
  },
});
