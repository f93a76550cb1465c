/** `POST /alerts/channels/update`: changes the fields that are sent and keeps the others. */
import * as z from 'zod/mini';
import { channelFields } from '../../../contract/management/alerts.ts';
import { updateChannel } from '../../../store/d1/alert-channels.ts';
import { operation } from '../define-operation.ts';
import { alertChannel, channelId, noSuchChannel } from './channel-response.ts';

export const updateAlertChannel = operation({
  name: 'update-alert-channel',
  method: 'POST',
  path: '/alerts/channels/update',
  feature: 'Protect',
  permission: 'updateProtectSettings',
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
  async handler({ store, account, body: { channelId: id, ...change }, nowMs }) {
    const updated = await updateChannel(store, account.id, id, change, nowMs);
    if (updated === null) throw noSuchChannel();
    return updated;
  },
});
