/**
 * Blocklists and allowlists of an instance. A list is returned with its settings, never with its secret, and with what
 * became of its readings.
 */
import {
  listFields,
  listName,
  type ListSettings,
  type ListStatus,
  listStatus,
  settingsErrors,
} from '../../../../contract/management/lists.ts';
import { hasHiddenValue, shownUrl } from '../../../http/shown-url.ts';
import {
  createList,
  deleteList,
  findList,
  listsOf,
  type StoredList,
  updateList,
} from '../../../../store/d1/rule-lists.ts';
import { checkOutbound } from '../../check-outbound.ts';
import { OperationError } from '../../operation-error.ts';
import type { OutboundSettings } from '../../../outbound-variables.ts';
import { parseSelector } from '../../../../lists/selector.ts';
import * as z from 'zod/mini';
import { type Operation, protectOperation } from '../../define-operation.ts';
import { instanceOfCall, chosenSiteKey, instanceRuleBook } from '../chosen-instance.ts';
import { listDefaults } from '../../../../contract/management/list-defaults.ts';
import { followSettings } from '../../../lists/follow-changes.ts';
import { isSamePublisher } from '../../../lists/same-publisher.ts';

export function listResponse(list: StoredList): ListStatus {
  const { name, settings, hasAuthorization, entries, failures, error, lastChange, report } = list;
  const { createdAt, triedAt, confirmedAt, changedAt, dueAt } = list;
  const times = { createdAt, triedAt, confirmedAt, changedAt, nextAt: dueAt };
  return {
    name,
    ...settings,
    url: settings.url === null ? null : shownUrl(settings.url),
    hasAuthorization,
    state: stateOf(list),
    entries,
    ...times,
    failures,
    error,
    lastChange,
    report,
  };
}

function stateOf({ isExpired, failures, confirmedAt }: StoredList): ListStatus['state'] {
  if (isExpired) return 'expired';
  if (failures > 0) return 'failing';
  return confirmedAt === null ? 'new' : 'good';
}

export function beingRead(): OperationError {
  return new OperationError('API.CONFLICT', 'The list is being read. Try again in a minute');
}

export function noSuchList(): OperationError {
  return new OperationError('API.NOT_FOUND', 'The instance has no list with this name');
}

/** @throws OperationError 400 that names each field that does not fit. */
function checkedSettings(settings: ListSettings, outbound: OutboundSettings): ListSettings {
  const errors = settingsErrors(settings);
  const selector = parseSelector(settings.selector ?? '');
  if (!selector.ok) errors.push({ path: 'selector', message: selector.error });
  if (settings.url !== null && hasHiddenValue(settings.url)) {
    errors.push({ path: 'url', message: 'has *** where a value was hidden. Write the whole address' });
  }
  if (settings.url !== null) checkOutbound(settings.url, 'url', outbound);
  if (errors.length > 0) throw new OperationError('API.INVALID_BODY', 'Some settings do not fit', errors);
  return settings;
}

/** Given fields over those that are known. An address that comes back as it was shown is the known one. */
export function mergedSettings(
  known: ListSettings,
  given: { [Field in keyof ListSettings]?: ListSettings[Field] | undefined },
  outbound: OutboundSettings,
): ListSettings {
  const changes = Object.entries(given).filter(([, value]) => value !== undefined);
  const merged = { ...known, ...Object.fromEntries(changes) };
  const isAsShown = known.url !== null && merged.url === shownUrl(known.url);
  return checkedSettings(isAsShown ? { ...merged, url: known.url } : merged, outbound);
}

export const listOperations: readonly Operation[] = [
  /** The lists of an instance, by name, with their state. */
  protectOperation({
    name: 'list-rule-lists',
    path: '/protect/lists',
    access: 'read',
    summary: 'List the blocklists and allowlists of an instance',
    body: z.strictObject({ siteKey: chosenSiteKey }),
    response: z.object({ lists: z.array(listStatus) }),
    async handler({ body, ...context }) {
      const instance = await instanceOfCall(context, body.siteKey);
      return { lists: (await listsOf(context.store, instance.id)).map(listResponse) };
    },
  }),
  /**
   * Subscribes to a list, or makes room for a file. It is monitored unless the caller says otherwise, and read with the
   * next scheduled run, or with `refresh`.
   */
  protectOperation({
    name: 'create-rule-list',
    path: '/protect/lists/create',
    access: 'write',
    summary: 'Subscribe to a list, or create one that is a file',
    body: z.strictObject({
      siteKey: chosenSiteKey,
      name: listName,
      url: z._default(listFields.url, listDefaults.url),
      format: z._default(listFields.format, listDefaults.format),
      column: z._default(listFields.column, listDefaults.column),
      selector: z._default(listFields.selector, listDefaults.selector),
      authorization: z._default(listFields.authorization, listDefaults.authorization),
      verdict: z._default(listFields.verdict, listDefaults.verdict),
      mode: z._default(listFields.mode, listDefaults.mode),
      intervalMinutes: z._default(listFields.intervalMinutes, listDefaults.intervalMinutes),
      expirySeconds: z._default(listFields.expirySeconds, listDefaults.expirySeconds),
      maxChangePercent: z._default(listFields.maxChangePercent, listDefaults.maxChangePercent),
      includeReserved: z._default(listFields.includeReserved, listDefaults.includeReserved),
    }),
    response: listStatus,
    async handler({ body: { siteKey: wanted, name, authorization, ...given }, ...context }) {
      const { instance, book } = await instanceRuleBook(context, wanted);
      const settings = checkedSettings(given, context.outbound);
      const key = { instanceId: instance.id, name };
      const created = await createList(context.store, key, settings, authorization, context.nowMs);
      if (created === null) throw new OperationError('API.CONFLICT', 'The instance has a list with this name');
      const { verdict, mode } = settings;
      // What a stopped refresh of a deleted list has left is not this list.
      await book.removeList(name, context.nowMs);
      const put = await book.putList({ name, verdict, mode }, context.nowMs);
      if (put.ok) {
        context.changes.note('list', [{ name, before: null, after: settings, defaults: listDefaults }]);
        return listResponse(created);
      }
      await deleteList(context.store, key);
      throw new OperationError(
        'API.TOO_MANY_ITEMS',
        `An instance holds at most ${put.error.limit} lists. Delete one first, or try again later if you have deleted many`,
      );
    },
  }),
  /**
   * Changes the settings that are sent and keeps the others. Enforcing a list takes effect at once, whatever its size.
   * With another source it is read again as a whole.
   */
  protectOperation({
    name: 'update-rule-list',
    path: '/protect/lists/update',
    access: 'write',
    summary: 'Change the settings of a list',
    body: z.strictObject({
      siteKey: chosenSiteKey,
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
      const settings = mergedSettings(known.settings, given, context.outbound);
      const isOtherSource = authorization !== undefined || isSourceChanged(known.settings, settings);
      const kept = isSamePublisher(known.settings, settings) ? authorization : (authorization ?? null);
      const updated = await updateList(context.store, known, settings, kept, {
        isOtherSource,
        nowMs: context.nowMs,
      });
      if (updated === null) throw noSuchList();
      context.changes.note('list', [{ name, before: known.settings, after: settings }]);
      await followSettings(book, updated, context.nowMs);
      return listResponse(updated);
    },
  }),
  /** Unsubscribes. Exactly the entries of this list lose their effect. */
  protectOperation({
    name: 'delete-rule-list',
    path: '/protect/lists/delete',
    access: 'write',
    summary: 'Unsubscribe from a list and remove its entries',
    body: z.strictObject({ siteKey: chosenSiteKey, name: listName }),
    response: z.object({ success: z.literal(true), name: z.string() }),
    async handler({ body: { siteKey: wanted, name }, ...context }) {
      const { instance, book } = await instanceRuleBook(context, wanted);
      const known = await findList(context.store, instance.id, name);
      // Entries first: a list that is still listed can be deleted again.
      const wasInForce = await book.removeList(name, context.nowMs);
      // A refresh that was stopped while the list was deleted may have left entries, which nothing else removes.
      if (known === null && !wasInForce) throw noSuchList();
      if (known !== null) await deleteList(context.store, known);
      // A refresh that was under way may have put it in force again.
      await book.removeList(name, context.nowMs);
      context.changes.note('list', [{ name, before: known?.settings ?? {}, after: null }]);
      return { success: true, name };
    },
  }),
];

function isSourceChanged(before: ListSettings, after: ListSettings): boolean {
  return sourceOf(before) !== sourceOf(after);
}

function sourceOf({ url, format, column, selector, includeReserved, verdict }: ListSettings): string {
  // CrowdSec's decisions are chosen by the verdict.
  return JSON.stringify([url, format, column, selector, includeReserved, format === 'crowdsec' ? verdict : null]);
}
