/**
 * `POST /sites/activate`: the way back after `/sites/delete`. The site has its keys and settings again. An instance that
 * was deactivated with it stays inactive.
 */
import * as z from 'zod/mini';
import { site, siteKey } from '../../../contract/management/site.ts';
import { activateSite as activate } from '../../../store/d1/sites.ts';
import { operation } from '../define-operation.ts';
import { checkDomains } from './check-domains.ts';
import { ownSite } from './own-site.ts';
import { siteResponse } from './site-response.ts';

export const activateSite = operation({
  name: 'activate-site',
  method: 'POST',
  path: '/sites/activate',
  feature: 'Sites',
  permission: 'updateSite',
  access: 'write',
  summary: 'Reactivate a site',
  body: z.strictObject({ siteKey }),
  response: site,
  async handler(context) {
    const { store, account, body, nowMs } = context;
    const record = await ownSite(context, body.siteKey);
    if (record.active) return siteResponse(record);
    // The plan may have changed since.
    checkDomains(account.tier, record.settings.domains);
    await activate(store, account.id, body.siteKey, nowMs);
    return siteResponse(await ownSite(context, body.siteKey));
  },
});
