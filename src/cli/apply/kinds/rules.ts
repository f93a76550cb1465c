/**
 * Edge access rules of an instance. They are compared page by page, so that only the rules of the file and the
 * differences are in memory, and written in batches, each on the version of the one before.
 */
import { isDeepStrictEqual } from 'node:util';
import type { EdgeRuleCanonical, EdgeRuleListed } from '../../../contract/management/edge-rule.ts';
import type { ProtectInstance } from '../../../contract/management/instance-settings.ts';
import { pruned, type PlannedChange, type Planning } from '../plan.ts';
import { ruleKey, type WantedInstance } from '../read-config.ts';
import { RULES_PER_CALL } from '../service-state.ts';

interface Comparison {
  writes: PlannedChange[];
  unnamed: EdgeRuleCanonical[];
  unchanged: number;
}

export async function planRules(
  planning: Planning,
  { cname, path: at, rules }: WantedInstance,
  current: ProtectInstance | null,
): Promise<void> {
  if (rules === undefined) return;
  const { plan, made, state } = planning;
  const { writes, unnamed, unchanged } = await compared(planning, cname, rules, current);
  plan.keep(unchanged);
  const section = { path: [...at, 'rules'], isEmpty: rules.size === 0, what: `rules of ${cname}` };
  const gone = pruned(planning, unnamed, section);
  const write = async (operation: 'create' | 'delete', body: object): Promise<void> => {
    const path = `/protect/access-rules/${operation}` as const;
    const ifVersion = made.ruleVersions.get(cname);
    const siteKey = made.instanceKeyOf(cname);
    const answer = await state.call(path, { ...body, ifVersion }, { siteKey });
    made.ruleVersions.set(cname, answer.version);
  };
  for (const { changes, range } of batches(writes)) {
    plan.add('rules', `write ${range} rules of ${cname}`, changes, () =>
      write('create', { rules: changes.map(({ after }) => sent(after as EdgeRuleCanonical, planning.nowMs)) }),
    );
  }
  const deletions = gone.map((rule): PlannedChange => ({
    ...named(rule, cname),
    action: 'delete',
    before: rule,
    after: null,
  }));
  for (const { changes, range } of batches(deletions)) {
    const conditions = changes.map(({ before }) => {
      const { type, value } = before as EdgeRuleCanonical;
      return { type, value };
    });
    plan.add('ruleDeletion', `delete ${range} rules of ${cname}`, changes, () => write('delete', { conditions }));
  }
}

async function compared(
  { state, plan, made, nowMs }: Planning,
  cname: string,
  wanted: ReadonlyMap<string, EdgeRuleCanonical>,
  current: ProtectInstance | null,
): Promise<Comparison> {
  let writes: PlannedChange[] = [];
  let unnamed: EdgeRuleCanonical[] = [];
  let unchanged = 0;
  let missing = new Set(wanted.keys());
  if (current !== null) {
    const begin = (): void => {
      [writes, unnamed, unchanged, missing] = [[], [], 0, new Set(wanted.keys())];
    };
    const take = (rules: readonly EdgeRuleListed[]): void => {
      for (const listed of rules) {
        const rule = canonical(listed);
        const key = ruleKey(rule);
        const after = wanted.get(key);
        missing.delete(key);
        if (after === undefined) unnamed.push(rule);
        else if (isDeepStrictEqual(rule, after)) unchanged += 1;
        else writes.push({ ...named(rule, cname), action: 'change', before: rule, after });
      }
    };
    made.ruleVersions.set(cname, await state.rules(current, begin, take));
  }
  let over = 0;
  for (const key of missing) {
    const after = wanted.get(key)!;
    if (isOver(after, nowMs)) over += 1;
    else writes.push({ ...named(after, cname), action: 'create', before: null, after });
  }
  if (over > 0) plan.note(`${over} rules of ${cname} have expired and are not created. Remove them from the file.`);
  return { writes, unnamed, unchanged };
}

function named(rule: EdgeRuleCanonical, cname: string): Pick<PlannedChange, 'kind' | 'of' | 'name'> {
  return { kind: 'rule', of: cname, name: `${rule.type}:${rule.value}` };
}

function canonical({ type, value, verdict, mode, expiry, rollout, note }: EdgeRuleListed): EdgeRuleCanonical {
  return { type, value, verdict, mode, expiry, rollout, note };
}

const isOver = ({ expiry }: EdgeRuleCanonical, nowMs: number): boolean =>
  expiry !== null && Date.parse(expiry) <= nowMs;

/** A rule that is over may be sent back with `expired`, as it was listed. */
function sent(rule: EdgeRuleCanonical, nowMs: number): object {
  return isOver(rule, nowMs) ? { ...rule, expired: true } : rule;
}

function* batches(changes: readonly PlannedChange[]): Generator<{ changes: readonly PlannedChange[]; range: string }> {
  for (let from = 0; from < changes.length; from += RULES_PER_CALL) {
    const part = changes.slice(from, from + RULES_PER_CALL);
    const count = part.length.toLocaleString('en');
    const range =
      part.length === changes.length
        ? count
        : `${(from + 1).toLocaleString('en')} to ${(from + part.length).toLocaleString('en')} of ${changes.length.toLocaleString('en')}`;
    yield { changes: part, range };
  }
}
