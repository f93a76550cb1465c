/** `POST /sites/delete`: deactivates a site, so that its tokens no longer verify. The last active site must stay. */
import * as z from 'zod/mini';
import { siteKey } from '../../../contract/management/site.ts';
import { deactivateSite } from '../../../store/d1/sites.ts';
import { operation } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { ownSite } from './own-site.ts';

export const deleteSite = operation({
  name: 'delete-site',
  method: 'POST',
  path: '/sites/delete',
  feature: 'Sites',
  permission: 'deleteSite',
  access: 'write',
  summary: 'Deactivate a site',
  body: z.strictObject({ siteKey }),
  response: z.object({ success: z.literal(true), deactivatedSiteKey: z.string() }),
  async handler(context) {
    const { store, account, body, nowMs } = context;
    const record = await ownSite(context, body.siteKey);
    if (record.active && !(await deactivateSite(store, account.id, body.siteKey, nowMs)).ok) {
      throw new OperationError('PORTAL.CANNOT_DEACTIVATE_LAST_SITE', 'The last remaining site cannot be deactivated');
    }
    return { success: true, deactivatedSiteKey: body.siteKey };
  },
});
