/**
 * Alerts of an account and the channels that they are sent to. A channel is returned without its address, which is a
 * secret, but with the host of it.
 */
import * as z from 'zod/mini';
import { chosenSiteKey } from './protect/chosen-instance.ts';
import { pageLimit, readTimeCursor, timeCursor, timeCursorField } from './pages.ts';
import {
  ALERT_CHANNELS_MAX,
  alertKinds,
  alertPhases,
  channelFields,
  channelShapes,
  deliveryStates,
  quietHours,
  sentKinds,
} from '../../contract/management/alerts.ts';
import { checkOutbound } from './check-outbound.ts';
import { NoActiveInstanceError, OperationError } from './operation-error.ts';
import { alertPage } from '../../store/d1/alerts.ts';
import { activeInstancesOf } from '../../store/d1/instances.ts';
import { protectOperation, type Operation, type OperationContext } from './define-operation.ts';
import {
  channelsOf,
  createChannel,
  deleteChannel,
  rotateChannelSecret,
  updateChannel,
} from '../../store/d1/alert-channels.ts';
import { postingOver, sendTest } from '../alerts/deliver-alerts.ts';
import { RateLimit } from '../http/rate-limit.ts';

const channelId = z.string().check(z.minLength(1), z.maxLength(64));

const alertChannel = z.object({
  id: z.string(),
  name: z.string(),
  shape: z.enum(channelShapes),
  /** Of the address. */
  host: z.string(),
  kinds: z.array(z.enum(alertKinds)),
  quietHours: z.nullable(quietHours),
  enabled: z.boolean(),
  createdAt: z.int(),
  updatedAt: z.int(),
  formerSecretUntil: z.nullable(z.int()),
});

function noSuchChannel(): OperationError {
  return new OperationError('API.NOT_FOUND', 'The account has no alert channel with this id');
}

/** @throws OperationError 404 */
async function ownChannel(
  { store, account, nowMs }: Pick<OperationContext<unknown>, 'store' | 'account' | 'nowMs'>,
  id: string,
) {
  const known = (await channelsOf(store, account.id, nowMs)).find((channel) => channel.id === id);
  if (known === undefined) throw noSuchChannel();
  return known;
}

function channelFieldsOf(channel: z.infer<typeof alertChannel>): object {
  const { name, shape, host, kinds, quietHours: quiet, enabled } = channel;
  return { name, shape, host, kinds, quietHours: quiet, enabled };
}

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

const OVERLAP_MS = 24 * 3_600_000;

/** Per account, in one isolate. Somebody who tries out an address needs a few; a flood of a third party needs more. */
const TESTS_PER_MINUTE = 20;
const testLimit = new RateLimit(TESTS_PER_MINUTE);

export const alertOperations: readonly Operation[] = [
  /** What happened, newest first, and what became of each delivery. Kept for 90 days. */
  protectOperation({
    name: 'list-alerts',
    path: '/alerts/list',
    access: 'read',
    summary: 'List alerts and their deliveries',
    body: z.strictObject({
      /** Only alerts about the instance with this site key. Without it, all of the account. */
      siteKey: chosenSiteKey,
      kind: z.optional(z.enum(sentKinds)),
      limit: pageLimit(LIMIT_MAX, LIMIT_DEFAULT),
      cursor: timeCursorField,
    }),
    response: z.object({
      alerts: z.array(
        z.object({
          id: z.string(),
          kind: z.enum(sentKinds),
          phase: z.enum(alertPhases),
          at: z.int(),
          instanceId: z.nullable(z.string()),
          subject: z.string(),
          summary: z.string(),
          facts: z.record(z.string(), z.union([z.string(), z.number()])),
          deliveries: z.array(
            z.object({
              channelId: z.string(),
              channelName: z.nullable(z.string()),
              state: z.enum(deliveryStates),
              attempts: z.int(),
              triedAt: z.nullable(z.int()),
              dueAt: z.nullable(z.int()),
              error: z.nullable(z.string()),
            }),
          ),
        }),
      ),
      nextCursor: z.nullable(z.string()),
    }),
    async handler({ store, account, body }) {
      const { siteKey, kind = null, limit } = body;
      let instanceId: string | null = null;
      if (siteKey !== undefined) {
        const [instance] = await activeInstancesOf(store, account.id, { siteKey, limit: 1 });
        if (instance === undefined) throw new NoActiveInstanceError();
        instanceId = instance.id;
      }
      const alerts = await alertPage(store, account.id, { instanceId, kind, limit }, readTimeCursor(body.cursor));
      return { alerts, nextCursor: timeCursor(alerts, limit) };
    },
  }),
  /** Where alerts of the account are sent, oldest first. */
  protectOperation({
    name: 'list-alert-channels',
    path: '/alerts/channels',
    access: 'read',
    summary: 'List alert channels',
    body: z.strictObject({}),
    response: z.object({ channels: z.array(alertChannel) }),
    async handler({ store, account, nowMs }) {
      return { channels: await channelsOf(store, account.id, nowMs) };
    },
  }),
  /** The secret of a webhook is in this response and in no other. */
  protectOperation({
    name: 'create-alert-channel',
    path: '/alerts/channels/create',
    access: 'write',
    summary: 'Create an alert channel',
    body: z.strictObject({
      name: channelFields.name,
      shape: z.enum(channelShapes),
      webhookUrl: channelFields.webhookUrl,
      kinds: z._default(channelFields.kinds, []),
      quietHours: z._default(channelFields.quietHours, null),
      enabled: z._default(channelFields.enabled, true),
    }),
    response: z.object({ channel: alertChannel, secret: z.nullable(z.string()) }),
    async handler({ store, account, body, outbound, nowMs, changes }) {
      checkOutbound(body.webhookUrl, 'webhookUrl', outbound);
      const created = await createChannel(store, account.id, body, nowMs);
      if (created !== null) {
        changes.note('alert channel', [{ name: body.name, before: null, after: channelFieldsOf(created.channel) }]);
        return created;
      }
      throw new OperationError(
        'API.TOO_MANY_ITEMS',
        `The account has ${ALERT_CHANNELS_MAX} alert channels. Delete one first`,
      );
    },
  }),
  /** Changes the fields that are sent and keeps the others. */
  protectOperation({
    name: 'update-alert-channel',
    path: '/alerts/channels/update',
    access: 'write',
    summary: 'Change an alert channel',
    body: z.strictObject({
      channelId,
      name: z.optional(channelFields.name),
      webhookUrl: z.optional(channelFields.webhookUrl),
      kinds: z.optional(channelFields.kinds),
      quietHours: z.optional(channelFields.quietHours),
      enabled: z.optional(channelFields.enabled),
    }),
    response: alertChannel,
    async handler({ store, account, body: { channelId: id, ...change }, outbound, nowMs, changes }) {
      if (change.webhookUrl !== undefined) checkOutbound(change.webhookUrl, 'webhookUrl', outbound);
      const known = await ownChannel({ store, account, nowMs }, id);
      const updated = await updateChannel(store, account.id, id, change, nowMs);
      if (updated === null) throw noSuchChannel();
      const [before, after] = [channelFieldsOf(known), channelFieldsOf(updated)];
      changes.note('alert channel', [{ name: known.name, before, after }]);
      return updated;
    },
  }),
  /** What still waits for the channel is not sent. */
  protectOperation({
    name: 'delete-alert-channel',
    path: '/alerts/channels/delete',
    access: 'write',
    summary: 'Delete an alert channel',
    body: z.strictObject({ channelId }),
    response: z.object({ success: z.literal(true), id: z.string() }),
    async handler({ store, account, body, nowMs, changes }) {
      const { name } = await ownChannel({ store, account, nowMs }, body.channelId);
      if (!(await deleteChannel(store, account.id, body.channelId))) throw noSuchChannel();
      changes.note('alert channel', [{ name, before: {}, after: null }]);
      return { success: true, id: body.channelId };
    },
  }),
  /**
   * A new secret for a webhook. For a day its alerts are signed with the former one too, so that the receiver can
   * follow without losing an alert.
   */
  protectOperation({
    name: 'rotate-alert-channel-secret',
    path: '/alerts/channels/rotate-secret',
    access: 'write',
    summary: 'Give a webhook a new secret',
    body: z.strictObject({ channelId }),
    response: z.object({ secret: z.string(), formerSecretUntil: z.int() }),
    async handler({ store, account, body, nowMs, changes }) {
      const known = (await channelsOf(store, account.id, nowMs)).find(({ id }) => id === body.channelId);
      const formerSecretUntil = nowMs + OVERLAP_MS;
      const secret = await rotateChannelSecret(store, account.id, body.channelId, formerSecretUntil, nowMs);
      if (secret === null) throw new OperationError('API.NOT_FOUND', 'The account has no webhook with this id');
      changes.name('alert channel', known?.name ?? body.channelId);
      return { secret, formerSecretUntil };
    },
  }),
  /** Sends a test at once, and says what came of it. */
  protectOperation({
    name: 'test-alert-channel',
    path: '/alerts/channels/test',
    access: 'write',
    summary: 'Send a test to an alert channel',
    body: z.strictObject({ channelId }),
    response: z.object({ alertId: z.string(), delivered: z.boolean(), error: z.nullable(z.string()) }),
    async handler({ store, account, body, outbound, requestId, nowMs, changes }) {
      const known = await ownChannel({ store, account, nowMs }, body.channelId);
      changes.name('alert channel', known.name);
      if (testLimit.take(account.id, nowMs) !== null) {
        throw new OperationError('API.RATE_LIMITED', `At most ${TESTS_PER_MINUTE} tests a minute. Try again later`);
      }
      const occasion = { accountId: account.id, channelId: known.id, moment: requestId };
      const sent = await sendTest(store, postingOver(outbound), occasion, nowMs);
      if (sent === null) throw new OperationError('API.CONFLICT', 'The channel is switched off. Enable it first');
      const { alertId, outcome } = sent;
      return { alertId, delivered: outcome.ok, error: outcome.ok ? null : outcome.error };
    },
  }),
];
