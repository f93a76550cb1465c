/** `POST /site/get` (interface document 4.2): one site by its key. */
import * as z from 'zod/mini';
import { site, siteKey } from '../../../contract/management/site.ts';
import { operation } from '../operation.ts';
import { ownSite, siteAnswer } from './site-answer.ts';

export const getSite = operation({
  name: 'get-site',
  method: 'POST',
  path: '/site/get',
  feature: 'Sites',
  permission: 'getSite',
  access: 'read',
  summary: 'Get one site',
  body: z.strictObject({ siteKey }),
  response: site,
  async handler(context) {
    return siteAnswer(await ownSite(context, context.body.siteKey));
  },
});
