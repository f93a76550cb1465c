/**
 * `POST /protect/instances/update` (interface document 4.8): changes the members given, keeps the rest. Two clients
 * that change different members at once both win: a lost race is read again and merged anew.
 */
import * as z from 'zod/mini';
import { instancePolicy } from '../../../../contract/management/instance-policy.ts';
import { instanceIdentity } from '../../../../contract/management/instance-identity.ts';
import { withoutDefaults } from '../../../../contract/management/patch-schema.ts';
import { updateInstance as write } from '../../../../store/d1/instances.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { checkSiteKey, checkThresholds, checkedCname, checkedHosts } from './check-instance.ts';
import { answerOf, conflictError, instanceAnswer, instanceId, ownInstance } from './instance-response.ts';

/**
 * Lost races in a row before the caller is told. Each means somebody else's update went through, so of this many
 * clients at once every one gets its turn.
 */
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
    ...withoutDefaults(instancePolicy.shape),
    /** Client JWTs issued up to this moment stop working; epoch milliseconds, `null` lifts it. */
    clientJwtsRevokedBefore: z.optional(z.nullable(z.int().check(z.gte(0)))),
  }),
  response: instanceAnswer,
  async handler(context) {
    const { store, account, body, nowMs } = context;
    const { id, clientJwtsRevokedBefore, ...change } = body;
    if (change.globalSiteKey !== undefined) await checkSiteKey(store, account.id, change.globalSiteKey);
    if (change.cname !== undefined) change.cname = checkedCname(change.cname);
    if (change.hosts !== undefined) change.hosts = checkedHosts(change.hosts);
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const current = await ownInstance(context, id);
      const identity = {
        name: change.name ?? current.name,
        cname: change.cname ?? current.cname,
        globalSiteKey: change.globalSiteKey ?? current.globalSiteKey,
      };
      const policy = instancePolicy.parse(pickPolicy({ ...current, ...change }));
      checkThresholds(policy);
      const revokedBefore =
        clientJwtsRevokedBefore === undefined ? current.clientJwtsRevokedBefore : clientJwtsRevokedBefore;
      const outcome = await write(store, { id, ...identity, policy }, revokedBefore, current.version, nowMs);
      if (outcome.ok) return answerOf(await ownInstance(context, id));
      if (outcome.error !== 'stale') throw conflictError(outcome.error);
    }
    throw new OperationError('API.CONFLICT', 'The instance is being changed by others; try again');
  },
});

function pickPolicy(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(instancePolicy.shape).map((member) => [member, members[member]]));
}
