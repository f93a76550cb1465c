/**
 * `POST /protect/instances/update`: changes the fields that are sent and keeps the others. When another update was
 * faster, the instance is read again and merged again, so two clients that change different fields both succeed.
 */
import * as z from 'zod/mini';
import { instanceSettings } from '../../../../contract/management/instance-settings.ts';
import { instanceIdentity } from '../../../../contract/management/instance-identity.ts';
import { withoutDefaults } from '../../../../contract/management/patch-schema.ts';
import { updateInstance as write } from '../../../../store/d1/instances.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { checkVersion, ifVersion } from '../../stale-write.ts';
import { checkSiteKey, checkThresholds, checkedCname, checkedHosts } from './check-instance.ts';
import { instanceResponse, conflictError, instanceSchema, instanceId, ownInstance } from './instance-response.ts';

/** Attempts before 409. Each failed attempt means that another update succeeded, so this many parallel clients all do. */
const ATTEMPTS_MAX = 20;

export const updateInstance = operation({
  name: 'update-instance',
  method: 'POST',
  path: '/protect/instances/update',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Change a Protect instance',
  body: z.strictObject({
    id: instanceId,
    ...withoutDefaults(instanceIdentity.shape),
    ...withoutDefaults(instanceSettings.shape),
    /** Client JWTs that were issued up to this time stop working; epoch milliseconds. `null` removes the limit. */
    clientJwtsRevokedBefore: z.optional(z.nullable(z.int().check(z.gte(0)))),
    /** `version` of the instance that this change was made for. If it is another one by now, nothing changes: 409. */
    ifVersion,
  }),
  response: instanceSchema,
  async handler(context) {
    const { store, account, body, nowMs } = context;
    const { id, clientJwtsRevokedBefore, ifVersion: expected, ...change } = body;
    if (change.globalSiteKey !== undefined) await checkSiteKey(store, account.id, change.globalSiteKey);
    if (change.cname !== undefined) change.cname = checkedCname(change.cname);
    if (change.hosts !== undefined) change.hosts = checkedHosts(change.hosts);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const current = await ownInstance(context, id);
      checkVersion('The instance', expected, current.version);
      const identity = {
        name: change.name ?? current.name,
        cname: change.cname ?? current.cname,
        globalSiteKey: change.globalSiteKey ?? current.globalSiteKey,
      };
      const policy = instanceSettings.parse(pickPolicy({ ...current, ...change }));
      checkThresholds(policy);
      const revokedBefore =
        clientJwtsRevokedBefore === undefined ? current.clientJwtsRevokedBefore : clientJwtsRevokedBefore;
      const outcome = await write(
        store,
        { id, accountId: account.id, ...identity, policy },
        revokedBefore,
        current.version,
        nowMs,
      );
      if (outcome.ok) return instanceResponse(await ownInstance(context, id));
      if (outcome.error !== 'stale') throw conflictError(outcome.error);
    }
    throw new OperationError('API.CONFLICT', 'Other clients are changing this instance; try again');
  },
});

function pickPolicy(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(instanceSettings.shape).map((name) => [name, fields[name]]));
}
