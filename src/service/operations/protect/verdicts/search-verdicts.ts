/** `POST /protect/verdicts/search`: the verdicts of one client, by address, session or network. All given fields must match. */
import { verdictPageResponse, verdictSearchRequest } from '../../../../contract/management/verdict-query.ts';
import { operation } from '../../define-operation.ts';
import { verdictPage } from './verdict-page.ts';
import { logTarget, rowFilter } from './verdict-log-query.ts';

export const searchVerdicts = operation({
  name: 'search-verdicts',
  method: 'POST',
  path: '/protect/verdicts/search',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Find verdicts for one client',
  body: verdictSearchRequest,
  response: verdictPageResponse,
  async handler(context) {
    const target = await logTarget(context, context.body.siteKey);
    return verdictPage(context.store, target, rowFilter(context.body, target.horizon), context.body);
  },
});
