/** Reading an instance's policy set, and writing the next version of it. */
import * as z from 'zod/mini';
import {
  policyListed,
  policyNote,
  type PolicySet,
  policyStored,
} from '../../../../contract/management/policy-set/policy-set.ts';
import { limit } from '../../../../contract/management/policy-set/limit.ts';
import { originListed } from '../../../../contract/management/policy-set/origin.ts';
import type { Policy } from '../../../../contract/management/policy-set/policy.ts';
import { diffPolicySets, isSame, setChanges, type SetDifference } from '../../../../policies/diff.ts';
import { printExpression } from '../../../../policies/text/print.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { policySetOf, putPolicySet } from '../../../../store/d1/policy-sets.ts';
import type { OperationContext } from '../../define-operation.ts';
import { NoActiveInstanceError, OperationError } from '../../operation-error.ts';
import { ifVersion, staleWrite, untilWritten } from '../../stale-write.ts';
import { instanceOfCall, chosenSiteKey } from '../chosen-instance.ts';

/** A set of 512 KiB, indented and with its conditions in the longer form. */
export const SET_BODY_MAX_BYTES = 4 * 1024 * 1024;
/** Of every write. */
export const writeFields = {
  siteKey: chosenSiteKey,
  /** The version that this change was made for. If it is another one by now, nothing changes: 409. */
  ifVersion,
  note: policyNote,
  /** Says what would change, and writes nothing. */
  dryRun: z._default(z.boolean(), false),
};

const item = <Item extends z.ZodMiniType>(schema: Item) =>
  z.object({
    change: z.enum(setChanges),
    name: z.string(),
    before: z.nullable(schema),
    after: z.nullable(schema),
    placeBefore: z.nullable(z.int()),
    placeAfter: z.nullable(z.int()),
  });
const policyDifference = item(policyStored);
const limitDifference = item(limit);
const originDifference = item(originListed);
export const setDifference = {
  policies: z.array(policyDifference),
  limits: z.array(limitDifference),
  origins: z.array(originDifference),
};

export const writeResponse = z.object({
  /** The new version; the current one where nothing changes, and of a dry run. */
  version: z.int(),
  /** Whether a new version was made, or would be. */
  changed: z.boolean(),
  dryRun: z.boolean(),
  differences: z.object(setDifference),
});

interface StoredSet {
  instance: StoredInstance;
  version: number;
  set: PolicySet;
}

interface Write {
  siteKey?: string | undefined;
  ifVersion?: number | undefined;
  note?: string | undefined;
  dryRun: boolean;
}

export async function currentSet(
  context: Pick<OperationContext<unknown>, 'store' | 'account' | 'access' | 'responseHeaders' | 'changes'>,
  wantedSiteKey: string | undefined,
): Promise<StoredSet> {
  const instance = await instanceOfCall(context, wantedSiteKey);
  return {
    instance,
    version: instance.policyVersion,
    set: await setOfVersion(context, instance, instance.policyVersion),
  };
}

/** @throws OperationError 404 */
export async function setOfVersion(
  { store }: Pick<OperationContext<unknown>, 'store'>,
  { id, policyVersion }: StoredInstance,
  version: number,
): Promise<PolicySet> {
  const set = version > policyVersion ? null : await policySetOf(store, id, version);
  if (set !== null) return set;
  throw new OperationError('API.NOT_FOUND', `Version ${version} of the policies is not kept. See the history`);
}

/**
 * Makes the next version with `change`, which may be called again on the set of another writer. Where nothing changes, no
 * version is made.
 */
export async function writeSet(
  context: Pick<
    OperationContext<unknown>,
    'store' | 'account' | 'access' | 'responseHeaders' | 'principal' | 'nowMs' | 'changes'
  >,
  { siteKey: wantedSiteKey, ifVersion: expected, note, dryRun }: Write,
  change: (set: PolicySet, stored: StoredSet) => PolicySet | Promise<PolicySet>,
  restores: number | null = null,
): Promise<z.infer<typeof writeResponse>> {
  return untilWritten('Others keep changing the policies. Try again', async () => {
    const stored = await currentSet(context, wantedSiteKey);
    const { instance, version, set } = stored;
    if (expected !== undefined && expected !== version) throw staleWrite('The set of policies', expected, version);
    const document = await change(set, stored);
    const differences: SetDifference = diffPolicySets(set, document);
    const changed = !isSame(differences);
    if (dryRun || !changed) return { version, changed, dryRun, differences };
    const written = await putPolicySet(
      context.store,
      {
        instanceId: instance.id,
        document,
        onVersion: version,
        note: note === undefined || note === '' ? null : note,
        actor: context.principal.id,
        restores,
      },
      context.nowMs,
    );
    if (written.ok) {
      noteDifferences(context, differences);
      return { version: written.value, changed, dryRun, differences };
    }
    if (written.error === null) throw new NoActiveInstanceError();
    if (expected !== undefined) throw staleWrite('The set of policies', expected, written.error);
    return null;
  });
}

function inText(one: Policy | null): object | null {
  return one && { ...one, when: printExpression(one.when) };
}

function noteDifferences(
  { changes }: Pick<OperationContext<unknown>, 'changes'>,
  { policies, limits, origins }: SetDifference,
): void {
  const changed = policies.map((one) => ({ ...one, before: inText(one.before), after: inText(one.after) }));
  for (const [kind, things] of [
    ['policy', changed],
    ['limit', limits],
    ['origin', origins],
  ] as const) {
    changes.note(
      kind,
      things.map(({ name, before, after, change }) => ({
        name,
        before,
        after,
        ...(change === 'moved' ? { change } : {}),
      })),
    );
  }
}

/** @throws OperationError 404 */
export function policyPlace(policies: readonly Policy[], name: string): number {
  const index = policies.findIndex((one) => one.name === name);
  if (index >= 0) return index;
  throw new OperationError('API.NOT_FOUND', `There is no policy named "${name}"`);
}

export function listedPolicy(one: Policy): z.infer<typeof policyListed> {
  return { ...one, text: printExpression(one.when) };
}
