/** `POST /alerts/channels/create`: the secret of a webhook is in this response and in no other. */
import * as z from 'zod/mini';
import { ALERT_CHANNELS_MAX, channelFields, channelShapes } from '../../../contract/management/alerts.ts';
import { createChannel } from '../../../store/d1/alert-channels.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { alertChannel } from './channel-response.ts';

export const createAlertChannel = operation({
  name: 'create-alert-channel',
  method: 'POST',
  path: '/alerts/channels/create',
  feature: 'Protect',
  permission: 'updateProtectSettings',
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
  async handler({ store, account, body, nowMs }) {
    const created = await createChannel(store, account.id, body, nowMs);
    if (created !== null) return created;
    throw new OperationError(
      'API.TOO_MANY_ITEMS',
      `The account has ${ALERT_CHANNELS_MAX} alert channels. Delete one first`,
    );
  },
});
