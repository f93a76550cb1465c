/** `POST /alerts/channels/test`: sends a test at once, and says what came of it. */
import * as z from 'zod/mini';
import { channelsOf } from '../../../store/d1/alert-channels.ts';
import { postingOver } from '../../alerts/post-alert.ts';
import { sendTest } from '../../alerts/send-test.ts';
import { RateLimit } from '../../http/rate-limit.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { channelId, noSuchChannel } from './channel-response.ts';

/** Per account, in one isolate. Somebody who tries out an address needs a few; a flood of a third party needs more. */
const TESTS_PER_MINUTE = 20;
const testLimit = new RateLimit(TESTS_PER_MINUTE);

export const testAlertChannel = operation({
  name: 'test-alert-channel',
  method: 'POST',
  path: '/alerts/channels/test',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Send a test to an alert channel',
  body: z.strictObject({ channelId }),
  response: z.object({ alertId: z.string(), delivered: z.boolean(), error: z.nullable(z.string()) }),
  async handler({ store, account, body, outbound, requestId, nowMs }) {
    const known = (await channelsOf(store, account.id, nowMs)).find(({ id }) => id === body.channelId);
    if (known === undefined) throw noSuchChannel();
    if (testLimit.take(account.id, nowMs) !== null) {
      throw new OperationError('API.RATE_LIMITED', `At most ${TESTS_PER_MINUTE} tests a minute. Try again later`);
    }
    const occasion = { accountId: account.id, channelId: known.id, moment: requestId };
    const sent = await sendTest(store, postingOver(outbound), occasion, nowMs);
    if (sent === null) throw new OperationError('API.CONFLICT', 'The channel is switched off. Enable it first');
    const { alertId, outcome } = sent;
    return { alertId, delivered: outcome.ok, error: outcome.ok ? null : outcome.error };
  },
});
