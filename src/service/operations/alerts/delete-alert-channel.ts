/** `POST /alerts/channels/delete`: what still waits for the channel is not sent. */
import * as z from 'zod/mini';
import { deleteChannel } from '../../../store/d1/alert-channels.ts';
import { operation } from '../define-operation.ts';
import { channelId, noSuchChannel } from './channel-response.ts';

export const deleteAlertChannel = operation({
  name: 'delete-alert-channel',
  method: 'POST',
  path: '/alerts/channels/delete',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Delete an alert channel',
  body: z.strictObject({ channelId }),
  response: z.object({ success: z.literal(true), id: z.string() }),
  async handler({ store, account, body }) {
    if (!(await deleteChannel(store, account.id, body.channelId))) throw noSuchChannel();
    return { success: true, id: body.channelId };
  },
});
