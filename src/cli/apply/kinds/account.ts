/** What belongs to the account as a whole: access control rules, bots of its own, team members, alert channels. */
import { isDeepStrictEqual } from 'node:util';
import type { AccessRule } from '../access-control-rules.ts';
import { type Change, differing, type Planning, pruned } from '../plan.ts';
import type { Wanted } from '../read-config.ts';
import { resolved } from '../secret-reference.ts';
import type { Channel } from '../service-state.ts';
import type { ListedAccessRule } from '../../../contract/management/access-control-rule.ts';

export async function planAccessControl(
  planning: Planning,
  wanted: NonNullable<Wanted['accessControl']>,
): Promise<void> {
  const { state, plan, nowMs } = planning;
  // One that is over has no effect, and leaves the list by itself.
  const current = new Map(
    (await state.accessRules()).filter(({ expired }) => !expired).map((rule) => [rule.userScopeHash, settable(rule)]),
  );
  let over = 0;
  for (const [hash, { rule }] of wanted) {
    const before = current.get(hash) ?? null;
    if (before !== null && isDeepStrictEqual(before, rule)) {
      plan.keep();
      continue;
    }
    if (Date.parse(rule.expiry) <= nowMs && before === null) {
      over += 1;
      continue;
    }
    const action = before === null ? 'create' : 'change';
    const name = conditionsOf(rule);
    const change: Change = { kind: 'access control rule', name, action, before, after: rule };
    plan.add('accessControl', `${action} the access control rule ${name}`, [change], async () => {
      await state.call('/access-control/create', { rule });
    });
  }
  if (over > 0) plan.note(`${over} access control rules have expired and are not created. Remove them from the file.`);
  const unnamed = [...current].filter(([hash]) => !wanted.has(hash));
  const section = { path: ['accessControl'], isEmpty: wanted.size === 0, what: 'access control rules' };
  for (const [userScopeHash, before] of pruned(planning, unnamed, section)) {
    const name = conditionsOf(before);
    const change: Change = { kind: 'access control rule', name, action: 'delete', before, after: null };
    plan.add('deletion', `delete the access control rule ${name}`, [change], async () => {
      await state.call('/access-control/delete', { userScopeHash });
    });
  }
}

export function settable(listed: ListedAccessRule): AccessRule {
  const { userScopeHash: _hash, createdAt: _created, updatedAt: _updated, expired: _expired, ...rule } = listed;
  return rule;
}

function conditionsOf({ conditions }: AccessRule): string {
  return conditions.map(({ field, value }) => `${field}:${value}`).join(' and ');
}

export async function planBots(planning: Planning, wanted: NonNullable<Wanted['bots']>): Promise<void> {
  const { state, plan } = planning;
  const current = new Map((await state.bots()).map((bot) => [bot.id, bot]));
  for (const [name, bot] of wanted) {
    const before = current.get(name) ?? null;
    if (before !== null && isDeepStrictEqual(before, bot)) {
      plan.keep();
      continue;
    }
    const action = before === null ? 'create' : 'change';
    plan.add('bots', `${action} the bot ${name}`, [{ kind: 'bot', name, action, before, after: bot }], async () => {
      await state.call('/protect/bots/own/add', bot);
    });
  }
  const unnamed = [...current.keys()].filter((id) => !wanted.has(id));
  const section = { path: ['bots'], isEmpty: wanted.size === 0, what: 'bots' };
  for (const id of pruned(planning, unnamed, section)) {
    const change: Change = { kind: 'bot', name: id, action: 'delete', before: null, after: null };
    plan.add('deletion', `delete the bot ${id}`, [change], async () => {
      await state.call('/protect/bots/own/remove', { id });
    });
  }
}

export async function planUsers(planning: Planning, wanted: NonNullable<Wanted['users']>): Promise<void> {
  const { state, plan, report } = planning;
  const users = await state.users();
  for (const [email, { path, name, role }] of wanted) {
    const current = users.find((user) => user.email === email);
    if (current?.isOwner === true) {
      report.add([...path, 'email'], 'is the owner of the account, whom this file cannot change. Remove the item');
      continue;
    }
    const after = { name, role };
    const changed = current === undefined ? { before: null, after } : differing(after, current);
    if (changed === null) {
      plan.keep();
      continue;
    }
    const action = current === undefined ? 'create' : 'change';
    plan.add('others', `${action} the user ${email}`, [{ kind: 'user', name: email, action, ...changed }], async () => {
      if (current === undefined) await state.call('/users/create', { email, name, role });
      else await state.call('/users/update', { email, name, userType: role }, { method: 'PUT' });
    });
  }
  const unnamed = users.filter(({ email, isOwner }) => !isOwner && !wanted.has(email)).map(({ email }) => email);
  const section = { path: ['users'], isEmpty: wanted.size === 0, what: 'users' };
  for (const email of pruned(planning, unnamed, section)) {
    const change: Change = { kind: 'user', name: email, action: 'delete', before: null, after: null };
    plan.add('deletion', `delete the user ${email}`, [change], async () => {
      await state.call('/users/delete', { email });
    });
  }
}

export async function planChannels(planning: Planning, wanted: NonNullable<Wanted['alertChannels']>): Promise<void> {
  const { state, plan, report, options, environment } = planning;
  const channels = await state.channels();
  for (const [name, { path, webhookUrl, shape, ...fields }] of wanted) {
    const namesakes = channels.filter((channel) => channel.name === name);
    if (namesakes.length > 1) report.add(path, 'is the name of several channels. Rename them in the console first');
    const [current] = namesakes;
    if (current !== undefined && current.shape !== shape) {
      report.add([...path, 'shape'], `cannot change: the channel is ${current.shape}. Choose another name`);
    }
    const { name: _name, ...settings } = fields;
    const changed =
      current === undefined ? { before: null, after: { shape, ...settings } } : differing(settings, current);
    const sendsSecret = current === undefined || options.sendSecrets;
    if (changed === null && !sendsSecret) {
      plan.keep();
      continue;
    }
    const found = sendsSecret ? resolved(webhookUrl, environment) : null;
    if (found?.ok === false) report.add([...path, 'webhookUrl'], found.error);
    const secret = found?.ok === true ? { webhookUrl: found.value } : {};
    const shown = sendsSecret ? { webhookUrl: '(secret)' } : {};
    const action = current === undefined ? 'create' : 'change';
    const after = { ...changed?.after, ...shown };
    const change: Change = { kind: 'alert channel', name, action, before: changed?.before ?? null, after };
    plan.add('others', `${action} the alert channel ${name}`, [change], async () => {
      if (current === undefined) await state.call('/alerts/channels/create', { name, shape, ...settings, ...secret });
      else await state.call('/alerts/channels/update', { channelId: current.id, ...changed?.after, ...secret });
    });
    if (current === undefined && shape === 'webhook')
      plan.note(
        `The channel ${name} gets a secret that signs its webhooks. Make one that you can read in the console: Alerts, then rotate.`,
      );
  }
  planDeletedChannels(planning, wanted, channels);
}

function planDeletedChannels(
  planning: Planning,
  wanted: NonNullable<Wanted['alertChannels']>,
  channels: readonly Channel[],
): void {
  const unnamed = channels.filter(({ name }) => !wanted.has(name));
  const section = { path: ['alertChannels'], isEmpty: wanted.size === 0, what: 'alert channels' };
  for (const { id, name } of pruned(planning, unnamed, section)) {
    const change: Change = { kind: 'alert channel', name, action: 'delete', before: null, after: null };
    planning.plan.add('deletion', `delete the alert channel ${name}`, [change], async () => {
      await planning.state.call('/alerts/channels/delete', { channelId: id });
    });
  }
}
