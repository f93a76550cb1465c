/**
 * One edge access rule, added, replaced or deleted, with a way back. Every write names the version that was read, so that
 * what somebody else changed meanwhile is never overwritten.
 */
import { failed, ok, type Result } from '../../../result.ts';
import { call, type Refusal } from '../../api/call.ts';
import { sentenceOf } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import type { NewRule, Rule } from './rule.ts';

export interface MatchedValue {
  type: Rule['type'];
  /** In canonical form. */
  value: string;
}

export interface FoundRule {
  /** `null`: there is none. */
  rule: Rule | null;
  /** Of all rules of the instance. */
  version: number;
}

export async function findRule(siteKey: string, { type, value }: MatchedValue): Promise<Result<FoundRule, Refusal>> {
  const answer = await call('/protect/access-rules', { siteKey, type, valuePrefix: value, limit: 1 });
  if (!answer.ok) return answer;
  const { rules, version } = answer.value;
  // A prefix sorts before everything that it begins.
  return ok({ rule: rules.find((rule) => rule.value === value) ?? null, version });
}

const CHANGED: Refusal = {
  status: 409,
  key: 'API.CONFLICT',
  message: 'Somebody else has changed this rule meanwhile. Nothing was changed. Look at it again.',
  details: [],
  requestId: null,
};
/** Somebody else's change to another rule refuses a write too. */
const ATTEMPTS = 4;

/** @param known what was there when it was read. @param next `null`: no rule. */
async function change(
  siteKey: string,
  key: MatchedValue,
  known: Rule | null,
  next: NewRule | Rule | null,
): Promise<Result<FoundRule, Refusal>> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await findRule(siteKey, key);
    if (!found.ok) return found;
    const { rule, version } = found.value;
    if (rule?.updatedAt !== known?.updatedAt) return failed(CHANGED);
    const written = await write(siteKey, key, next, version);
    if (written.ok) return findRule(siteKey, key);
    if (written.error.status !== 409 || attempt === ATTEMPTS) return written;
  }
}

async function write(
  siteKey: string,
  { type, value }: MatchedValue,
  next: NewRule | Rule | null,
  ifVersion: number,
): Promise<Result<unknown, Refusal>> {
  return next === null
    ? call('/protect/access-rules/delete', { siteKey, ifVersion, conditions: [{ type, value }] })
    : call('/protect/access-rules/create', { siteKey, ifVersion, rules: [next] });
}

/**
 * Changes one rule, unless somebody else has changed it meanwhile, and offers the way back.
 * @param before what was there when it was read. @param next `null`: no rule. @returns what is there now.
 */
export async function changeRule(
  siteKey: string,
  key: MatchedValue,
  before: Rule | null,
  next: NewRule | null,
  onUndone: () => void,
): Promise<Result<FoundRule, Refusal>> {
  const answer = await change(siteKey, key, before, next);
  if (answer.ok) announce(siteKey, key, { before, after: answer.value.rule }, onUndone);
  return answer;
}

/** Says what happened. The undo brings back what was there, unless somebody has changed it since. */
function announce(
  siteKey: string,
  key: MatchedValue,
  { before, after }: { before: Rule | null; after: Rule | null },
  onUndone: () => void,
): void {
  const undo = async (): Promise<void> => {
    const answer = await change(siteKey, key, after, before);
    if (!answer.ok) {
      toast(sentenceOf(answer.error), { tone: 'failed' });
      return;
    }
    toast(before === null ? 'Undone: the rule is gone.' : 'Undone: the rule is as it was.');
    onUndone();
  };
  const done = after === null ? 'deleted' : before === null ? 'added' : 'changed';
  toast(`The rule is ${done}. Every edge follows within seconds.`, { undo: () => void undo() });
}
