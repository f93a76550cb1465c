/**
 * The limits of an instance. They stand in one document with its policies, which has one version: a change is written over
 * the version that somebody sees, and written again where somebody else has changed another part meanwhile.
 */
import type { StoredSet } from '../policies/policy.ts';
import { ok } from '../../../result.ts';
import { call, type Refusal } from '../../api/call.ts';
import type { RequestOf, Schema } from '../../api/service-api.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { ofItem } from '../../settings/refused-paths.ts';
import { saveOver, type SettingValues, type Stored } from '../../settings/save-over.ts';

export type ListedLimit = Schema<'Limit'>;
type NewSet = Pick<RequestOf<'/protect/policies/set'>, 'limits' | 'policies'>;

export interface LimitChange {
  name: string;
  /** `null`: it is removed, and with it the policies that use it. */
  limit: ListedLimit | null;
  /** Of requests that a new policy sends to it. */
  condition?: string;
}

const NAME_MAX_CHARS = forms.limit.name.maxLength;

/** Names of the policies that send requests to a limit. */
export function usersOf({ policies }: Pick<StoredSet, 'policies'>, limit: string): string[] {
  return policies.filter(({ then }) => then.action === 'limit' && then.limit === limit).map(({ name }) => name);
}

/** The parts of the set that a change replaces. */
export function setWith({ limits, policies }: StoredSet, { name, limit, condition }: LimitChange): NewSet {
  // What the list adds to a policy is not stored.
  const stored = policies.map((listed) => {
    const { text: _text, hits: _hits, ...policy } = listed;
    return policy;
  });
  if (limit === null) {
    const users = usersOf({ policies }, name);
    return {
      limits: limits.filter((one) => one.name !== name),
      ...(users.length === 0 ? {} : { policies: stored.filter((one) => !users.includes(one.name)) }),
    };
  }
  const isKnown = limits.some((one) => one.name === name);
  const next = isKnown ? limits.map((one) => (one.name === name ? limit : one)) : [...limits, limit];
  if (condition === undefined) return { limits: next };
  const policy = {
    name: freeName(
      name,
      policies.map((one) => one.name),
    ),
    when: condition,
    then: { action: 'limit' as const, limit: name },
    mode: 'enforce' as const,
  };
  // First, so that no other policy ends the search before it.
  return { limits: next, policies: [policy, ...stored] };
}

/** `name`, or `name-2` and so on where a policy has it. */
function freeName(name: string, taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const end = number === 1 ? '' : `-${number}`;
    const free = `${name.slice(0, NAME_MAX_CHARS - end.length)}${end}`;
    if (!taken.includes(free)) return free;
  }
}

/**
 * @param shown what the person sees.
 * @returns the newest set that is known, for another attempt, the version that was saved, and why nothing was.
 */
export async function saveLimit(
  site: { siteKey?: string },
  shown: StoredSet,
  change: LimitChange,
): Promise<{ set: StoredSet; version: number; error: Refusal | null }> {
  let set = shown;
  const stored = (newest: StoredSet): Stored => {
    set = newest;
    return { values: valuesOf(newest, change), version: newest.version };
  };
  const wanted = changedValues(change);
  const { stored: last, error } = await saveOver(stored(shown), wanted, {
    load: async () => {
      const answer = await call('/protect/policies', site);
      return answer.ok ? ok(stored(answer.value)) : answer;
    },
    save: async (_, ifVersion) => {
      const answer = await call('/protect/policies/set', { ...site, ifVersion, ...setWith(set, change) });
      return answer.ok ? ok({ values: wanted, version: answer.value.version }) : answer;
    },
  });
  return { set, version: last.version, error: error && inForm(error, set, change) };
}

/** What must not have changed meanwhile. Who removes a limit has also seen which policies go with it. */
function valuesOf(set: StoredSet, { name, limit }: LimitChange): SettingValues {
  const stored = set.limits.find((one) => one.name === name);
  return limit === null ? { [name]: stored, [policiesOf(name)]: usersOf(set, name) } : { [name]: stored };
}

function changedValues({ name, limit }: LimitChange): SettingValues {
  return limit === null ? { [name]: undefined, [policiesOf(name)]: [] } : { [name]: limit };
}

const policiesOf = (name: string): string => `the policies of ${name}`;

/** The fields of the form, not their place in the set. */
export function inForm(error: Refusal, set: StoredSet, change: LimitChange): Refusal {
  const { limits = [], policies = [] } = setWith(set, change);
  const ofLimit = ofItem(error, 'limits', limits, change.name);
  // A new condition is the first policy.
  return ofItem(ofLimit, 'policies', policies, policies[0]?.name ?? '');
}
