/**
 * `POST /protect/access-rules/create`. There is one rule per type and canonical value; creating it again replaces it. A
 * batch that has a rule twice, and differently, is refused. The whole batch becomes one version, or nothing is stored.
 */
import * as z from 'zod/mini';
import { edgeRuleCanonical, edgeRuleInput } from '../../../../contract/management/edge-rule.ts';
import { operation } from '../../define-operation.ts';
import { ifVersion } from '../../stale-write.ts';
import { checkedRules, distinctRules } from './check-rules.ts';
import { refusedWrite, siteKey, writtenRuleBook } from './instance-rule-book.ts';
import { canonicalRule } from './rule-response.ts';

/** 10,000 rules with a value and a note of common length have about 2 MB. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export const createAccessRules = operation({
  name: 'create-access-rules',
  method: 'POST',
  path: '/protect/access-rules/create',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Add or replace edge access rules',
  maxBodyBytes: MAX_BODY_BYTES,
  body: z.strictObject({
    // The schema accepts any item. The handler checks the items one by one and names bad ones by their index.
    rules: z.array(z.union([z.unknown(), edgeRuleInput])).check(z.minLength(1)),
    siteKey,
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
    const { created, updated, version } = outcome.value;
    const unchanged = distinctRules(rules) - created - updated;
    return { created, updated, unchanged, version, rules: rules.map(canonicalRule) };
  },
});
