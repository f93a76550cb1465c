/**
 * Protect instances of an account. An instance is returned with its identity and every field of its policy, in camel
 * case, with times in epoch milliseconds. Create and update take the same fields.
 */
import * as z from 'zod/mini';
import {
  instanceIdentity,
  instanceSettings,
  newInstanceSettings,
  type ProtectInstance,
} from '../../../../contract/management/instance-settings.ts';
import {
  createInstance,
  deactivateInstance,
  instancesOfAccount,
  type InstanceConflict,
  type StoredInstance,
  updateInstance,
} from '../../../../store/d1/instances.ts';
import { OperationError } from '../../operation-error.ts';
import { protectOperation, type Operation, type OperationContext } from '../../define-operation.ts';
import { checkSiteKey, checkThresholds, checkedCname, checkedHosts } from './check-instance.ts';
import { withoutDefaults } from '../../../../contract/management/patch-schema.ts';
import { checkVersion, ifVersion, untilWritten } from '../../stale-write.ts';
import { instanceId, ownInstance } from '../chosen-instance.ts';
import { attackWatch } from '../../../../store/attack-watch/client.ts';
import { deleteListsOf } from '../../../../store/d1/rule-lists.ts';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import { telemetryLogOf } from '../../../../store/event-log/client/telemetry-log.ts';
import { retireLog, verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import { retireRisk } from '../../../../store/risk-book/client/session-risk.ts';

const instanceSchema = z.object({
  id: z.string(),
  active: z.boolean(),
  ...instanceIdentity.shape,
  ...instanceSettings.shape,
  clientJwtsRevokedBefore: z.nullable(z.int()),
  /** Rises with every change. An update with `ifVersion` of an older one is refused. */
  version: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
});

function instanceResponse(stored: StoredInstance): ProtectInstance {
  const { accountId: _accountId, policyVersion: _policyVersion, attack: _attack, ...instance } = stored;
  return instance;
}

function conflictError(conflict: InstanceConflict): OperationError {
  switch (conflict) {
    case 'cname-taken':
      return new OperationError('API.CONFLICT', 'An active instance of this account already has this cname', [
        { path: 'cname', message: 'is taken by an active instance' },
      ]);
    case 'site-key-taken':
      return new OperationError('API.CONFLICT', 'An active instance already has this global site key', [
        { path: 'globalSiteKey', message: 'is taken by an active instance' },
      ]);
    case 'site-inactive':
      return new OperationError('API.CONFLICT', 'The site was deactivated at the same time', [
        { path: 'globalSiteKey', message: 'is not an active site' },
      ]);
  }
}

/** What follows when an instance became inactive: its rules go within seconds, its verdicts and sessions a minute later. */
export async function retireInstance(
  { store, nowMs, waitUntil }: Pick<OperationContext<unknown>, 'store' | 'nowMs' | 'waitUntil'>,
  id: string,
): Promise<void> {
  await Promise.all([ruleBook(store, id).retire(nowMs), attackWatch(store, id).retire()]);
  await deleteListsOf(store, id);
  // About twenty objects, after the response. If that is cut short, the scheduled run does it again.
  const logs = [verdictLogOf({ id }), telemetryLogOf({ id })];
  waitUntil(Promise.all([...logs.map((log) => retireLog(store, log, nowMs)), retireRisk(store, id, nowMs)]));
}

export const instanceOperations: readonly Operation[] = [
  /** Every instance of the account; a deleted instance is inactive. */
  protectOperation({
    name: 'list-instances',
    path: '/protect/instances',
    access: 'read',
    summary: 'List Protect instances',
    body: z.strictObject({}),
    response: z.array(instanceSchema),
    async handler({ store, account }) {
      return (await instancesOfAccount(store, account.id)).map(instanceResponse);
    },
  }),
  /**
   * `{name, cname, globalSiteKey}` is enough: every field of the policy has a default. A new instance is in monitor
   * mode (`newInstanceSettings`).
   */
  protectOperation({
    name: 'create-instance',
    path: '/protect/instances/create',
    access: 'write',
    summary: 'Create a Protect instance',
    body: z.strictObject({ ...instanceIdentity.shape, ...newInstanceSettings.shape }),
    response: instanceSchema,
    async handler({ store, account, body, nowMs, changes }) {
      const { name, cname: givenCname, globalSiteKey, ...policy } = body;
      const cname = checkedCname(givenCname);
      policy.hosts = checkedHosts(policy.hosts);
      checkThresholds(policy);
      await checkSiteKey(store, account.id, globalSiteKey);
      const created = await createInstance(store, { accountId: account.id, name, cname, globalSiteKey, policy }, nowMs);
      if (!created.ok) throw conflictError(created.error);
      changes.note('instance', [
        { name, before: null, after: { cname, ...policy }, defaults: newInstanceSettings.parse({}) },
      ]);
      return instanceResponse(created.value);
    },
  }),
  /**
   * Changes the fields that are sent and keeps the others. When another update was faster, the instance is read again
   * and merged again, so two clients that change different fields both succeed.
   */
  protectOperation({
    name: 'update-instance',
    path: '/protect/instances/update',
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
      return untilWritten('Other clients are changing this instance; try again', async () => {
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
        const outcome = await updateInstance(
          store,
          { id, accountId: account.id, ...identity, policy },
          revokedBefore,
          current.version,
          nowMs,
        );
        if (outcome.ok) {
          const updated = await ownInstance(context, id);
          context.changes.note('instance', [
            { name: current.name, before: instanceFields(current), after: instanceFields(updated) },
          ]);
          return instanceResponse(updated);
        }
        if (outcome.error !== 'stale') throw conflictError(outcome.error);
        return null;
      });
    },
  }),
  /**
   * Deactivates the instance. Its client JWTs stop working at once, and its cname and site key are free again. Its
   * access rules are deleted within seconds, its verdicts and sessions a minute later.
   */
  protectOperation({
    name: 'delete-instance',
    path: '/protect/instances/delete',
    access: 'write',
    summary: 'Delete a Protect instance',
    body: z.strictObject({ id: instanceId }),
    response: z.object({ success: z.literal(true), id: z.string() }),
    async handler(context) {
      const { id, name } = await ownInstance(context, context.body.id);
      await deactivateInstance(context.store, id, context.nowMs);
      await retireInstance(context, id);
      context.changes.note('instance', [{ name, before: {}, after: null }]);
      return { success: true, id };
    },
  }),
];

/** What can be changed. */
function instanceFields(stored: StoredInstance): object {
  const { name, cname, globalSiteKey, clientJwtsRevokedBefore } = stored;
  return { name, cname, globalSiteKey, clientJwtsRevokedBefore, ...pickPolicy({ ...stored }) };
}

function pickPolicy(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(instanceSettings.shape).map((name) => [name, fields[name]]));
}
