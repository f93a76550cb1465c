/**
 * `POST /protect/sessions/erase`: ends a session, so that nothing more is stored under it, deletes its risk, and removes
 * every verdict, report and captcha of it, from sealed segments and from the counts too. The jti of a single captcha
 * erases that captcha.
 */
import * as z from 'zod/mini';
import { sessionRequest } from '../../../../contract/management/verdict-query.ts';
import { captchaLog } from '../../../../store/event-log/client/captcha-log.ts';
import { telemetryLogOf } from '../../../../store/event-log/client/telemetry-log.ts';
import { eraseSession } from '../../../../store/event-log/client/verdict-log.ts';
import { endSession } from '../../../../store/risk-book/client/session-risk.ts';
import { operation } from '../../define-operation.ts';
import { logTarget } from './verdict-log-query.ts';

export const eraseSessionOperation = operation({
  name: 'erase-session',
  method: 'POST',
  path: '/protect/sessions/erase',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'End one session and erase everything that is stored about it',
  body: sessionRequest,
  response: z.object({ jti: z.string(), erased: z.int() }),
  async handler(context) {
    const { jti, siteKey } = context.body;
    const { log, instance } = await logTarget(context, siteKey);
    await endSession(context.store, instance, jti, context.nowMs);
    const [verdicts, captchas] = await Promise.all(
      [log, captchaLog(instance.accountId), telemetryLogOf(instance)].map((one) =>
        eraseSession(context.store, one, jti),
      ),
    );
    return { jti, erased: (verdicts ?? 0) + (captchas ?? 0) };
  },
});
