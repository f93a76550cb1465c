/** What belongs to the account as a whole: access control rules, bots of its own, team members, alert channels. */
import { isDeepStrictEqual } from 'node:util';
import type { ListedAccessControlRule } from '../../../contract/management/access-control-rule.ts';
import type { SettableRule } from '../access-control-rules.ts';
import { differing, type ItemKind, type phases, planDeletions, type Planning } from '../plan.ts';
import type { Wanted } from '../read-config.ts';
import { resolved } from '../secret-reference.ts';

/** How one item becomes what the file says. `skipped`: it is neither changed nor counted. */
type Outcome = { before: object | null; after: object; send: () => Promise<unknown> } | 'kept' | 'skipped';

interface Section<Item, Current> {
  kind: ItemKind;
  /** The section of the configuration file. */
  name: keyof Wanted;
  phase: keyof typeof phases;
  existing: readonly Current[];
  nameOf: (one: Item | Current) => string;
  /** What `wanted` knows an item by. */
  keyOf?: (one: Current) => string;
  /** `namesakes`: what exists with the key of the item. */
  compare: (item: Item, namesakes: readonly Current[]) => Outcome;
  remove: (one: Current) => Promise<unknown>;
  /** Stays although the file does not name it. */
  isKept?: (one: Current) => boolean;
  shown?: (one: Current) => object;
}

/** Creates, changes and deletes the items of a section, each with a call of its own. */
function planSection<Item, Current>(
  planning: Planning,
  wanted: ReadonlyMap<string, Item>,
  section: Section<Item, Current>,
): void {
  const { kind, phase, existing, nameOf, keyOf = nameOf, isKept = () => false } = section;
  const { plan } = planning;
  const known = Map.groupBy(existing, keyOf);
  for (const [key, item] of wanted) {
    const namesakes = known.get(key) ?? [];
    const outcome = section.compare(item, namesakes);
    if (outcome === 'kept') plan.keep();
    if (typeof outcome === 'string') continue;
    const { before, after, send } = outcome;
    const action = namesakes.length === 0 ? 'create' : 'change';
    plan.addChange(phase, { kind, name: nameOf(item), action, before, after }, send);
  }
  const unnamed = existing.filter((one) => !wanted.has(keyOf(one)) && !isKept(one));
  planDeletions(planning, unnamed, { ...section, path: [section.name], isEmpty: wanted.size === 0, phase: 'deletion' });
}

export async function planAccessControl(
  planning: Planning,
  wanted: NonNullable<Wanted['accessControl']>,
): Promise<void> {
  const { state, plan, nowMs } = planning;
  let over = 0;
  planSection(planning, wanted, {
    kind: 'access control rule',
    name: 'accessControl',
    phase: 'accessControl',
    // An expired rule has no effect, and the service removes it from the list by itself.
    existing: (await state.accessControlRules()).filter(({ expired }) => !expired),
    nameOf: (one) => conditionsOf('rule' in one ? one.rule : one),
    keyOf: ({ userScopeHash }) => userScopeHash,
    compare: ({ rule }, [listed]) => {
      const before = listed === undefined ? null : settable(listed);
      if (isDeepStrictEqual(before, rule)) return 'kept';
      if (before !== null || Date.parse(rule.expiry) > nowMs)
        return { before, after: rule, send: () => state.call('/access-control/create', { rule }) };
      over += 1;
      return 'skipped';
    },
    remove: ({ userScopeHash }) => state.call('/access-control/delete', { userScopeHash }),
    shown: settable,
  });
  if (over > 0) plan.note(`${over} access control rules have expired and are not created. Remove them from the file.`);
}

export function settable(listed: ListedAccessControlRule): SettableRule {
  const { userScopeHash: _hash, createdAt: _created, updatedAt: _updated, expired: _expired, ...rule } = listed;
  return rule;
}

function conditionsOf({ conditions }: Pick<SettableRule, 'conditions'>): string {
  return conditions.map(({ field, value }) => `${field}:${value}`).join(' and ');
}

export async function planBots(planning: Planning, wanted: NonNullable<Wanted['bots']>): Promise<void> {
  const { state } = planning;
  planSection(planning, wanted, {
    kind: 'bot',
    name: 'bots',
    phase: 'bots',
    existing: await state.bots(),
    nameOf: ({ id }) => id,
    compare: (bot, [before = null]) =>
      isDeepStrictEqual(before, bot)
        ? 'kept'
        : { before, after: bot, send: () => state.call('/protect/bots/own/add', bot) },
    remove: ({ id }) => state.call('/protect/bots/own/remove', { id }),
  });
}

export async function planUsers(planning: Planning, wanted: NonNullable<Wanted['users']>): Promise<void> {
  const { state, report } = planning;
  planSection(planning, wanted, {
    kind: 'user',
    name: 'users',
    phase: 'others',
    existing: await state.users(),
    nameOf: ({ email }) => email,
    compare: ({ path, email, name, role }, [current]) => {
      if (current?.isOwner) {
        report.add([...path, 'email'], 'is the owner of the account, whom this file cannot change. Remove the item');
        return 'skipped';
      }
      const after = { name, role };
      if (current === undefined)
        return { before: null, after, send: () => state.call('/users/create', { email, name, role }) };
      const changed = differing(after, current);
      if (changed === null) return 'kept';
      const body = { email, name, userType: role };
      return { ...changed, send: () => state.call('/users/update', body, { method: 'PUT' }) };
    },
    remove: ({ email }) => state.call('/users/delete', { email }),
    isKept: ({ isOwner }) => isOwner,
  });
}

export async function planChannels(planning: Planning, wanted: NonNullable<Wanted['alertChannels']>): Promise<void> {
  const { state, plan, report, options, environment } = planning;
  planSection(planning, wanted, {
    kind: 'alert channel',
    name: 'alertChannels',
    phase: 'others',
    existing: await state.channels(),
    nameOf: ({ name }) => name,
    compare: ({ path, name, webhookUrl, shape, ...settings }, namesakes) => {
      if (namesakes.length > 1) report.add(path, 'is the name of several channels. Rename them in the console first');
      const [current] = namesakes;
      if (current !== undefined && current.shape !== shape)
        report.add([...path, 'shape'], `cannot change: the channel is ${current.shape}. Choose another name`);
      const changed =
        current === undefined ? { before: null, after: { shape, ...settings } } : differing(settings, current);
      const sendsSecret = current === undefined || options.sendSecrets;
      if (changed === null && !sendsSecret) return 'kept';
      const found = sendsSecret ? resolved(webhookUrl, environment) : null;
      if (found?.ok === false) report.add([...path, 'webhookUrl'], found.error);
      const secret = found?.ok === true ? { webhookUrl: found.value } : {};
      if (current === undefined && shape === 'webhook')
        plan.note(
          `The channel ${name} gets a secret that signs its webhooks. Make one that you can read in the console: Alerts, then rotate.`,
        );
      return {
        before: changed?.before ?? null,
        after: { ...changed?.after, ...(sendsSecret ? { webhookUrl: '(secret)' } : {}) },
        send: () =>
          current === undefined
            ? state.call('/alerts/channels/create', { name, shape, ...settings, ...secret })
            : state.call('/alerts/channels/update', { channelId: current.id, ...changed?.after, ...secret }),
      };
    },
    remove: ({ id }) => state.call('/alerts/channels/delete', { channelId: id }),
  });
}
