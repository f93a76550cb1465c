/** `POST /protect/access-rules/history`: the versions of the rules, who made each, and the oldest that can be restored. */
import * as z from 'zod/mini';
import { operation } from '../../define-operation.ts';
import { instanceRuleBook, siteKey } from './instance-rule-book.ts';
import { isoTime } from './rule-response.ts';

const PAGE_MAX_VERSIONS = 1000;
const PAGE_DEFAULT_VERSIONS = 50;

export const accessRulesHistory = operation({
  name: 'access-rules-history',
  method: 'POST',
  path: '/protect/access-rules/history',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List the versions of the edge access rules',
  body: z.strictObject({
    siteKey,
    limit: z._default(z.int().check(z.gte(1), z.lte(PAGE_MAX_VERSIONS)), PAGE_DEFAULT_VERSIONS),
    /** Only versions below this one: the last version of the previous page. */
    before: z.optional(z.int().check(z.gte(1))),
  }),
  response: z.object({
    version: z.int(),
    /** The oldest version that `rollback` can restore. */
    oldest: z.int(),
    versions: z.array(
      z.object({
        version: z.int(),
        at: z.string(),
        by: z.string(),
        kind: z.enum(['create', 'delete', 'import', 'rollback']),
        created: z.int(),
        updated: z.int(),
        deleted: z.int(),
        restores: z.optional(z.int()),
      }),
    ),
  }),
  async handler({ body, ...context }) {
    const { book } = await instanceRuleBook(context, body.siteKey);
    const { versions, version, oldest } = await book.history(body.limit, body.before ?? null);
    return { version, oldest, versions: versions.map((entry) => ({ ...entry, at: isoTime(entry.at) })) };
  },
});
