/** `POST /sites/get`: every site of the account; a deleted site is inactive. */
import * as z from 'zod/mini';
import { sitesOfAccount } from '../../../store/d1/sites.ts';
import { operation } from '../define-operation.ts';
import { shownSite, siteShownTo } from './site-response.ts';

export const getSites = operation({
  name: 'get-sites',
  method: 'POST',
  path: '/sites/get',
  feature: 'Sites',
  permission: 'getSites',
  access: 'read',
  summary: 'List every site of the account',
  body: z.strictObject({}),
  response: z.array(shownSite),
  async handler({ store, account, principal }) {
    return (await sitesOfAccount(store, account.id)).map((record) => siteShownTo(principal, 'getSites', record));
  },
});
