/** `POST /protect/verdicts`: the verdict log in pages, newest first, with every filter. */
import { verdictPageResponse, verdictPageRequest } from '../../../../contract/management/verdict-query.ts';
import { operation } from '../../define-operation.ts';
import { verdictPage } from './verdict-page.ts';
import { logTarget, rowFilter } from './verdict-log-query.ts';

export const listVerdicts = operation({
  name: 'list-verdicts',
  method: 'POST',
  path: '/protect/verdicts',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Page the verdict log',
  body: verdictPageRequest,
  response: verdictPageResponse,
  async handler(context) {
    const target = await logTarget(context, context.body.siteKey);
    return verdictPage(context.store, target, rowFilter(context.body, target.horizon), context.body);
  },
});
