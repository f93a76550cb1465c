/** `POST /alerts/channels`: where alerts of the account are sent, oldest first. */
import * as z from 'zod/mini';
import { channelsOf } from '../../../store/d1/alert-channels.ts';
import { operation } from '../define-operation.ts';
import { alertChannel } from './channel-response.ts';

export const listAlertChannels = operation({
  name: 'list-alert-channels',
  method: 'POST',
  path: '/alerts/channels',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List alert channels',
  body: z.strictObject({}),
  response: z.object({ channels: z.array(alertChannel) }),
  async handler({ store, account, nowMs }) {
    return { channels: await channelsOf(store, account.id, nowMs) };
  },
});
