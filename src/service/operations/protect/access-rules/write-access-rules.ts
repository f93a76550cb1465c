/** Creating and deleting edge access rules. A whole batch becomes one version, or nothing is stored. */
import * as z from 'zod/mini';
import { edgeRuleCanonical, edgeRuleCondition, edgeRuleInput } from '../../../../contract/management/edge-rule.ts';
import { type Operation, protectOperation } from '../../define-operation.ts';
import { ifVersion } from '../../stale-write.ts';
import { checkedConditions, checkedRules, distinctRules } from './check-rules.ts';
import { noteRules } from './note-rules.ts';
import { chosenSiteKey, refusedWrite, writtenRuleBook } from '../chosen-instance.ts';
import { canonicalRule } from './rule-response.ts';

/** 10,000 rules with a value and a note of common length have about 2 MB. */
const CREATE_MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Enough for 10,000 of the longest values. */
const DELETE_MAX_BODY_BYTES = 8 * 1024 * 1024;

export const accessRuleWriteOperations: readonly Operation[] = [
  /**
   * There is one rule per type and canonical value; creating it again replaces it. A batch that has a rule twice, and
   * differently, is refused. The whole batch becomes one version, or nothing is stored.
   */
  protectOperation({
    name: 'create-access-rules',
    path: '/protect/access-rules/create',
    access: 'write',
    summary: 'Add or replace edge access rules',
    maxBodyBytes: CREATE_MAX_BODY_BYTES,
    body: z.strictObject({
      // The schema accepts any item. The handler checks the items one by one and names bad ones by their index.
      rules: z.array(z.union([z.unknown(), edgeRuleInput])).check(z.minLength(1)),
      siteKey: chosenSiteKey,
      /** The version that this change was made for. If it is another one by now, nothing changes: 409. */
      ifVersion,
    }),
    response: z.object({
      created: z.int(),
      updated: z.int(),
      unchanged: z.int(),
      version: z.int(),
      rules: z.array(edgeRuleCanonical),
    }),
    async handler(context) {
      const { book } = await writtenRuleBook(context, context.body);
      const rules = checkedRules(context.body.rules, context.nowMs);
      const outcome = await book.upsert(rules, {
        nowMs: context.nowMs,
        actor: context.principal.id,
        kind: 'create',
        ifVersion: context.body.ifVersion,
      });
      if (!outcome.ok) throw refusedWrite(outcome.error, rules);
      noteRules(context, outcome.value);
      const { created, updated, version } = outcome.value;
      const unchanged = distinctRules(rules) - created - updated;
      return { created, updated, unchanged, version, rules: rules.map(canonicalRule) };
    },
  }),
  /**
   * Deletes rules by type and value, in any spelling of the value. Idempotent: rules that do not exist are counted and
   * not refused.
   */
  protectOperation({
    name: 'delete-access-rules',
    path: '/protect/access-rules/delete',
    access: 'write',
    summary: 'Remove edge access rules',
    maxBodyBytes: DELETE_MAX_BODY_BYTES,
    body: z.strictObject({
      conditions: z.array(z.union([z.unknown(), edgeRuleCondition])).check(z.minLength(1)),
      siteKey: chosenSiteKey,
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
      noteRules(context, outcome.value);
      const { deleted, version } = outcome.value;
      return { deleted, missing: distinctRules(keys) - deleted, version };
    },
  }),
];
