/**
 * `POST /protect/lists/update`: changes the settings that are sent and keeps the others. Enforcing a list takes effect at
 * once, whatever its size. With another source it is read again as a whole.
 */
import * as z from 'zod/mini';
import { listFields, listName, type ListSettings, listStatus } from '../../../../contract/management/lists.ts';
import { followSettings } from '../../../lists/follow-changes.ts';
import { isSamePublisher } from '../../../lists/same-publisher.ts';
import { findList, updateList } from '../../../../store/d1/rule-lists.ts';
import { operation } from '../../define-operation.ts';
import { instanceRuleBook, siteKey } from '../access-rules/instance-rule-book.ts';
import { listResponse, noSuchList } from './list-response.ts';
import { mergedSettings } from './list-settings.ts';

export const updateRuleList = operation({
  name: 'update-rule-list',
  method: 'POST',
  path: '/protect/lists/update',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Change the settings of a list',
  body: z.strictObject({
    siteKey,
    name: listName,
    url: z.optional(listFields.url),
    format: z.optional(listFields.format),
    column: z.optional(listFields.column),
    selector: z.optional(listFields.selector),
    /** `null` removes it; without it, the stored one is kept for the same host. */
    authorization: z.optional(listFields.authorization),
    verdict: z.optional(listFields.verdict),
    mode: z.optional(listFields.mode),
    intervalMinutes: z.optional(listFields.intervalMinutes),
    expirySeconds: z.optional(listFields.expirySeconds),
    maxChangePercent: z.optional(listFields.maxChangePercent),
    includeReserved: z.optional(listFields.includeReserved),
  }),
  response: listStatus,
  async handler({ body: { siteKey: wanted, name, authorization, ...given }, ...context }) {
    const { instance, book } = await instanceRuleBook(context, wanted);
    const known = await findList(context.store, instance.id, name);
    if (known === null) throw noSuchList();
    const settings = mergedSettings(known.settings, given);
    const isOtherSource = authorization !== undefined || isSourceChanged(known.settings, settings);
    const kept = isSamePublisher(known.settings, settings) ? authorization : (authorization ?? null);
    const updated = await updateList(context.store, known, settings, kept, {
      isOtherSource,
      nowMs: context.nowMs,
    });
    if (updated === null) throw noSuchList();
    await followSettings(book, updated, context.nowMs);
    return listResponse(updated);
  },
});

function isSourceChanged(before: ListSettings, after: ListSettings): boolean {
  return sourceOf(before) !== sourceOf(after);
}

function sourceOf({ url, format, column, selector, includeReserved, verdict }: ListSettings): string {
  // CrowdSec's decisions are chosen by the verdict.
  return JSON.stringify([url, format, column, selector, includeReserved, format === 'crowdsec' ? verdict : null]);
}
