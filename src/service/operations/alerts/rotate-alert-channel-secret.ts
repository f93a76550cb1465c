/**
 * `POST /alerts/channels/rotate-secret`: a new secret for a webhook. For a day its alerts are signed with the former one
 * too, so that the receiver can follow without losing an alert.
 */
import * as z from 'zod/mini';
import { rotateChannelSecret } from '../../../store/d1/alert-channels.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { channelId } from './channel-response.ts';

const OVERLAP_MS = 24 * 3_600_000;

export const rotateAlertChannelSecret = operation({
  name: 'rotate-alert-channel-secret',
  method: 'POST',
  path: '/alerts/channels/rotate-secret',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Give a webhook a new secret',
  body: z.strictObject({ channelId }),
  response: z.object({ secret: z.string(), formerSecretUntil: z.int() }),
  async handler({ store, account, body, nowMs }) {
    const formerSecretUntil = nowMs + OVERLAP_MS;
    const secret = await rotateChannelSecret(store, account.id, body.channelId, formerSecretUntil, nowMs);
    if (secret === null) throw new OperationError('API.NOT_FOUND', 'The account has no webhook with this id');
    return { secret, formerSecretUntil };
  },
});
