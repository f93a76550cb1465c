/**
 * `POST /sites/delete`: deactivates a site, so that its tokens no longer verify. The last active site must stay. A site
 * that an active instance uses stays too, because the instance's visitors could pass no challenge any more; with
 * `deactivateInstance` both go in one step.
 */
import * as z from 'zod/mini';
import { siteKey } from '../../../contract/management/site.ts';
import { activeInstances } from '../../../store/d1/instances.ts';
import { deactivateSite } from '../../../store/d1/sites.ts';
import { operation, type OperationContext } from '../define-operation.ts';
import { OperationError } from '../operation-error.ts';
import { retireInstance } from '../protect/instances/retire-instance.ts';
import { ownSite } from './own-site.ts';

export const deleteSite = operation({
  name: 'delete-site',
  method: 'POST',
  path: '/sites/delete',
  feature: 'Sites',
  permission: 'deleteSite',
  access: 'write',
  summary: 'Deactivate a site',
  body: z.strictObject({
    siteKey,
    /** Also deactivates the instance that uses the site. Needs the permission `updateProtectSettings`. */
    deactivateInstance: z._default(z.boolean(), false),
  }),
  response: z.object({
    success: z.literal(true),
    deactivatedSiteKey: z.string(),
    deactivatedInstanceId: z.optional(z.string()),
  }),
  async handler(context) {
    const { store, account, body, nowMs } = context;
    const deactivated = { success: true, deactivatedSiteKey: body.siteKey } as const;
    const record = await ownSite(context, body.siteKey);
    if (!record.active) return deactivated;
    const [instance] = await activeInstances(store, account.id, { siteKey: body.siteKey, limit: 1 });
    if (instance && !body.deactivateInstance) throw siteUsed(`the active instance ${instance.name} (${instance.id})`);
    if (instance) checkMayDeleteInstances(context);
    const site = { accountId: account.id, siteKey: body.siteKey, instanceId: instance?.id ?? null };
    const outcome = await deactivateSite(store, site, nowMs);
    if (!outcome.ok) {
      if (outcome.error === 'site-used') throw siteUsed('an instance that was just created');
      throw new OperationError('PORTAL.CANNOT_DEACTIVATE_LAST_SITE', 'The last remaining site cannot be deactivated');
    }
    if (!instance) return deactivated;
    await retireInstance(context, instance.id);
    return { ...deactivated, deactivatedInstanceId: instance.id };
  },
});

function siteUsed(by: string): OperationError {
  const message = `The site is used by ${by}. Delete that instance first, or send deactivateInstance`;
  return new OperationError('API.CONFLICT', message, [{ path: 'siteKey', message: 'is used by an active instance' }]);
}

function checkMayDeleteInstances({
  account,
  principal,
}: Pick<OperationContext<unknown>, 'account' | 'principal'>): void {
  const may = account.features.includes('Protect') && principal.permissions.Protect?.includes('updateProtectSettings');
  if (!may) throw new OperationError('API.INSUFFICIENT_PERMISSIONS', 'This key may not deactivate instances');
}
