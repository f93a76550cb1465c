/** The versions of the edge access rules. */
import * as z from 'zod/mini';
import { pageLimit } from '../../pages.ts';
import { type Operation, protectOperation } from '../../define-operation.ts';
import { noteRules } from './note-rules.ts';
import { chosenSiteKey, instanceRuleBook, refusedWrite } from '../chosen-instance.ts';
import { namesOfActors } from '../../../../store/d1/management-audit.ts';
import { isoTime } from './rule-response.ts';
import { OperationError } from '../../operation-error.ts';
import { ifVersion } from '../../stale-write.ts';

const PAGE_MAX_VERSIONS = 1000;
const PAGE_DEFAULT_VERSIONS = 50;

export const accessRuleVersionOperations: readonly Operation[] = [
  /** The versions of the rules, who made each, and the oldest that can be restored. */
  protectOperation({
    name: 'access-rules-history',
    path: '/protect/access-rules/history',
    access: 'read',
    summary: 'List the versions of the edge access rules',
    body: z.strictObject({
      siteKey: chosenSiteKey,
      limit: pageLimit(PAGE_MAX_VERSIONS, PAGE_DEFAULT_VERSIONS),
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
          /** What the key or the person is called, or was when they still were there. */
          byName: z.string(),
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
      const names = await namesOfActors(
        context.store,
        context.account.id,
        versions.map(({ by }) => by),
      );
      return {
        version,
        oldest,
        versions: versions.map((entry) => ({
          ...entry,
          at: isoTime(entry.at),
          byName: names.get(entry.by) ?? entry.by,
        })),
      };
    },
  }),
  /** Restores the rules of an earlier version, as a new version. */
  protectOperation({
    name: 'rollback-access-rules',
    path: '/protect/access-rules/rollback',
    access: 'write',
    summary: 'Restore the edge access rules of an earlier version',
    body: z.strictObject({
      siteKey: chosenSiteKey,
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
        noteRules(context, outcome.value);
        const { version, created, updated, deleted } = outcome.value;
        return { version, restores: body.version, created, updated, deleted };
      }
      const { error } = outcome;
      if (error.reason !== 'out-of-reach') throw refusedWrite(error);
      throw new OperationError('API.NOT_FOUND', `Only versions ${error.oldest} to ${error.newest} can be restored`);
    },
  }),
];
