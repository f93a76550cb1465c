/**
 * `POST /protect/instances/create`. `{name, cname, globalSiteKey}` is enough: every field of the policy has a default. A
 * new instance is in monitor mode (`newInstanceSettings`).
 */
import * as z from 'zod/mini';
import { newInstanceSettings } from '../../../../contract/management/instance-settings.ts';
import { instanceIdentity } from '../../../../contract/management/instance-identity.ts';
import { createInstance as insert } from '../../../../store/d1/instances.ts';
import { operation } from '../../define-operation.ts';
import { checkSiteKey, checkThresholds, checkedCname, checkedHosts } from './check-instance.ts';
import { instanceResponse, conflictError, instanceSchema } from './instance-response.ts';

export const createInstance = operation({
  name: 'create-instance',
  method: 'POST',
  path: '/protect/instances/create',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Create a Protect instance',
  body: z.strictObject({ ...instanceIdentity.shape, ...newInstanceSettings.shape }),
  response: instanceSchema,
  async handler({ store, account, body, nowMs }) {
    const { name, cname: givenCname, globalSiteKey, ...policy } = body;
    const cname = checkedCname(givenCname);
    policy.hosts = checkedHosts(policy.hosts);
    checkThresholds(policy);
    await checkSiteKey(store, account.id, globalSiteKey);
    const created = await insert(store, { accountId: account.id, name, cname, globalSiteKey, policy }, nowMs);
    if (!created.ok) throw conflictError(created.error);
    return instanceResponse(created.value);
  },
});
