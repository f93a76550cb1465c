/** `POST /sites/get`: every site of the account; a deleted site is inactive. */
import * as z from 'zod/mini';
import { site } from '../../../contract/management/site.ts';
import { sitesOfAccount } from '../../../store/d1/sites.ts';
import { operation } from '../define-operation.ts';
import { siteResponse } from './site-response.ts';

export const getSites = operation({
  name: 'get-sites',
  method: 'POST',
  path: '/sites/get',
  feature: 'Sites',
  permission: 'getSites',
  access: 'read',
  summary: 'List every site of the account',
  body: z.strictObject({}),
  response: z.array(site),
  async handler({ store, account }) {
    return (await sitesOfAccount(store, account.id)).map(siteResponse);
  },
});
