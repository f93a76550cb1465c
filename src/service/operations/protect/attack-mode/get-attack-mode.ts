/** `POST /protect/attack-mode`: whether attack mode is on, since when and until when. */
import * as z from 'zod/mini';
import { attackModeStatus } from '../../../../contract/management/attack-mode.ts';
import { operation } from '../../define-operation.ts';
import { chosenInstance } from '../chosen-instance.ts';
import { attackModeResponse } from './attack-mode-response.ts';

export const getAttackMode = operation({
  name: 'get-attack-mode',
  method: 'POST',
  path: '/protect/attack-mode',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Read attack mode',
  body: z.strictObject({ siteKey: z.optional(z.string().check(z.minLength(1), z.maxLength(256))) }),
  response: attackModeStatus,
  async handler(context) {
    const { attack } = await chosenInstance(context, context.body.siteKey);
    return attackModeResponse(attack, context.nowMs);
  },
});
