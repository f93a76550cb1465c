/** `POST /sites/create`: generates the keys, normalises the domains, and makes the first site of an account its default. */
import * as z from 'zod/mini';
import { site, siteName } from '../../../contract/management/site.ts';
import { siteSettings } from '../../../contract/management/site-settings.ts';
import { createSite as insert } from '../../../store/d1/sites.ts';
import { operation } from '../define-operation.ts';
import { checkDomains } from './check-domains.ts';
import { duplicateName, siteResponse } from './site-response.ts';

export const createSite = operation({
  name: 'create-site',
  method: 'POST',
  path: '/sites/create',
  feature: 'Sites',
  permission: 'createSite',
  access: 'write',
  summary: 'Create a site',
  body: z.strictObject({ name: siteName, settings: siteSettings }),
  response: site,
  async handler({ store, account, body, nowMs }) {
    const settings = { ...body.settings, domains: [...new Set(body.settings.domains)] };
    checkDomains(account.tier, settings.domains);
    const created = await insert(store, { accountId: account.id, name: body.name, settings }, nowMs);
    if (!created.ok) throw duplicateName();
    return siteResponse(created.value);
  },
});
