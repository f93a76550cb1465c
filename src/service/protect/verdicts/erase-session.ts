/**
 * `POST /protect/sessions/erase` (design 7: one jti can be erased): removes every verdict and report
 * of one session, sealed ones included, and takes them out of the counts.
 */
import * as z from 'zod/mini';
import { sessionRequest } from '../../../contract/verdict-query.ts';
import { eraseSession } from '../../../store/verdict-log/log.ts';
import { operation } from '../../operation.ts';
import { logTarget } from './verdict-log-query.ts';

export const eraseSessionOperation = operation({
  name: 'erase-session',
  method: 'POST',
  path: '/protect/sessions/erase',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Erase one session from the verdict log',
  body: sessionRequest,
  response: z.object({ jti: z.string(), erased: z.int() }),
  async handler(context) {
    const { jti, siteKey } = context.body;
    const { log } = await logTarget(context, siteKey);
    return { jti, erased: await eraseSession(context.env, log, jti) };
  },
});
