/** Policies, limits and origins of an instance: one document, which the service replaces as one version. */
import type { ProtectInstance } from '../../../contract/management/instance-settings.ts';
import { policySet, type PolicySet } from '../../../contract/management/policy-set/policy-set.ts';
import { canonicalPolicySet } from '../../../policies/canonical.ts';
import { diffPolicySets, type ItemDifference } from '../../../policies/diff.ts';
import { printExpression } from '../../../policies/text/print.ts';
import { pruned, type PlannedChange, type Planning } from '../plan.ts';
import type { WantedInstance } from '../read-config.ts';
import { stepsOf } from '../report.ts';

const sections = ['policies', 'limits', 'origins'] as const;
const actions = { added: 'create', removed: 'delete', changed: 'change', moved: 'move' } as const;
const kinds = { policies: 'policy', limits: 'limit', origins: 'origin' } as const;

export async function planPolicies(
  planning: Planning,
  wanted: WantedInstance,
  instance: ProtectInstance | null,
): Promise<void> {
  const { state, plan, report } = planning;
  const named = sections.filter((section) => wanted[section] !== undefined);
  if (named.length === 0) return;
  const { cname } = wanted;
  const current = instance === null ? { version: undefined, ...EMPTY } : await state.policies(instance);
  const before = known(current);
  const proposed = {
    policies: items(planning, wanted, 'policies', before.policies),
    limits: items(planning, wanted, 'limits', before.limits),
    origins: origins(planning, wanted, before.origins),
  };
  const after = checked(proposed, wanted, named, report);
  if (after === null) return;
  const differences = diffPolicySets(before, after);
  const changes = sections.flatMap((section) =>
    differences[section].map((difference) => changeOf(kinds[section], cname, difference)),
  );
  const count = named.reduce((sum, section) => sum + Object.keys(after[section]).length, 0);
  plan.keep(count - changes.filter(({ action }) => action !== 'delete').length);
  if (changes.length === 0) return;
  const body = Object.fromEntries(named.map((section) => [section, after[section]]));
  plan.add('policies', `set the ${named.join(', ')} of ${cname}`, changes, (made) => {
    const siteKey = made.instanceKeyOf(cname);
    return state.call('/protect/policies/set', { ...body, ifVersion: current.version }, { siteKey });
  });
}

const EMPTY: PolicySet = { policies: [], limits: [], origins: {} };

/** As listed policies have more fields than stored ones. */
function known({ policies, limits, origins: named }: PolicySet): PolicySet {
  const stored = policies.map(({ name, description, when, then, mode }) => ({
    name,
    ...(description === undefined ? {} : { description }),
    when,
    then,
    mode,
  }));
  const canonical = canonicalPolicySet({ policies: stored, limits, origins: named });
  return canonical.ok ? canonical.value : { policies: stored, limits, origins: named };
}

/** Those of the file. What is kept although the file does not name it follows them. */
function items<Section extends 'policies' | 'limits'>(
  planning: Planning,
  wanted: WantedInstance,
  section: Section,
  current: PolicySet[Section],
): PolicySet[Section] {
  const given = wanted[section] as PolicySet[Section] | undefined;
  if (given === undefined) return current;
  const names = new Set(given.map(({ name }) => name));
  const unnamed = (current as { name: string }[]).filter(({ name }) => !names.has(name));
  const gone = new Set<unknown>(pruned(planning, unnamed, sectionOf(wanted, section, given.length === 0)));
  return [...given, ...unnamed.filter((one) => !gone.has(one))] as PolicySet[Section];
}

function origins(planning: Planning, wanted: WantedInstance, current: PolicySet['origins']): PolicySet['origins'] {
  const given = wanted.origins;
  if (given === undefined) return current;
  const unnamed = Object.keys(current).filter((name) => !Object.hasOwn(given, name));
  const isEmpty = Object.keys(given).length === 0;
  const gone = new Set(pruned(planning, unnamed, sectionOf(wanted, 'origins', isEmpty)));
  const kept = unnamed.filter((name) => !gone.has(name)).map((name) => [name, current[name]!]);
  return { ...given, ...Object.fromEntries(kept) };
}

function sectionOf({ path, cname }: WantedInstance, section: string, isEmpty: boolean) {
  return { path: [...path, section], isEmpty, what: `${section} of ${cname}` };
}

/** The sections of the file with those that it leaves alone must fit together. */
function checked(
  proposed: PolicySet,
  { path }: WantedInstance,
  named: readonly string[],
  report: Planning['report'],
): PolicySet | null {
  const parsed = policySet.safeParse(proposed);
  const add = (inner: readonly PropertyKey[], message: string): void => {
    const steps = stepsOf(inner);
    const isOfFile = named.includes(String(steps[0]));
    report.add(isOfFile ? [...path, ...steps] : path, isOfFile ? message : `${steps.join('.')} ${message}`);
  };
  if (!parsed.success) {
    for (const { path: inner, message } of parsed.error.issues) add(inner, message);
    return null;
  }
  const canonical = canonicalPolicySet(parsed.data);
  if (canonical.ok) return canonical.value;
  add(canonical.error.path, canonical.error.message);
  return null;
}

function changeOf(
  kind: PlannedChange['kind'],
  of: string,
  difference: ItemDifference<{ name: string }>,
): PlannedChange {
  const { change, name, before, after, placeBefore, placeAfter } = difference;
  if (change === 'moved') {
    return { kind, of, name, action: 'move', before: { place: placeBefore }, after: { place: placeAfter } };
  }
  return { kind, of, name, action: actions[change], before: shown(before), after: shown(after) };
}

/** With conditions in their text form. */
function shown(item: object | null): object | null {
  if (item === null || !('when' in item)) return item;
  return { ...item, when: printExpression(item.when as Parameters<typeof printExpression>[0]) };
}
