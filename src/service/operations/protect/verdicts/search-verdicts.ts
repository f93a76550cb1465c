/**
 * `POST /protect/verdicts/search` (interface document 4.8): the verdicts of one client, by address, session or
 * network; members given together must all hold.
 */
import { verdictPageResponse, verdictSearchRequest } from '../../../../contract/management/verdict-query.ts';
import { operation } from '../../define-operation.ts';
import { pageResponse } from './verdict-page.ts';
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
    return pageResponse(context.store, target, rowFilter(context.body, target.horizon), context.body);
  },
});
