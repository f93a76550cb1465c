/** `POST /site/get`: one site, by its key. */
import * as z from 'zod/mini';
import { siteKey } from '../../../contract/management/site.ts';
import { operation } from '../define-operation.ts';
import { shownSite, siteShownTo } from './site-response.ts';
import { ownSite } from './own-site.ts';

export const getSite = operation({
  name: 'get-site',
  method: 'POST',
  path: '/site/get',
  feature: 'Sites',
  permission: 'getSite',
  access: 'read',
  summary: 'Get one site',
  body: z.strictObject({ siteKey }),
  response: shownSite,
  async handler(context) {
    return siteShownTo(context.principal, 'getSite', await ownSite(context, context.body.siteKey));
  },
});
