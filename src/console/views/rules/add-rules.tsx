/** Adds rules, or changes one: first what the change would have done, then the change, with an undo. */
import { useState } from 'preact/hooks';
import type { Result } from '../../../result.ts';
import { call, type Refusal } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { count, counted } from '../../format/numbers.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { RefusedForm, useForm } from '../../settings/form.tsx';
import { filledLines } from '../../settings/setting-schema.ts';
import { decisions } from '../../../contract/vocabulary.ts';
import { EDGE_RULES_PER_CALL_MAX } from '../../../contract/management/edge-rule-limits.ts';
import { PreviewResult, type Preview } from './preview.tsx';
import { changeRule } from './rule-change.ts';
import {
  expiryAfter,
  lifetimeOptions,
  ruleTypes,
  type Lifetime,
  type NewRule,
  type Rule,
  type RuleType,
} from './rule.ts';

export interface AddRulesProps {
  siteKey: string;
  /** `null`: new rules. */
  edited: Rule | null;
  onClose: () => void;
  onDone: () => void;
}

const typeOptions = (Object.keys(ruleTypes) as RuleType[]).map((one) => [one, ruleTypes[one].name] as const);

function tooManyIn({ values }: { values: string }): { values?: string } {
  if (filledLines(values).length <= EDGE_RULES_PER_CALL_MAX) return {};
  return { values: `has more than ${count(EDGE_RULES_PER_CALL_MAX)} values: import them as a file` };
}

/** Each line of the form is a rule of the call. */
function atLines(error: Refusal): Refusal {
  const details = error.details.map(({ path, message }) => ({
    path: path.replace(/^rules\.(\d+)\.value$|^rules\[(\d+)\]\.value$/, 'values.$1$2'),
    message,
  }));
  return { ...error, details };
}

export function AddRules({ siteKey, edited, onClose, onDone }: AddRulesProps) {
  const start = {
    type: edited?.type ?? 'ip',
    values: edited?.value ?? '',
    verdict: edited?.verdict ?? 'block',
    isMonitored: edited?.mode === 'monitor',
    lifetime: (edited === null ? 'none' : 'kept') as Lifetime | 'kept',
    rollout: String(edited?.rollout ?? 100),
    note: edited?.note ?? '',
  };
  const form = useForm(start, { note: forms.accessRule.note }, { problems: tooManyIn, isTouched: true });
  const [preview, setPreview] = useState<{ of: string; result: Preview } | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const [isBusy, setIsBusy] = useState<'preview' | 'apply' | null>(null);

  const { note, ...decided } = form.draft;
  const { type, verdict, lifetime } = decided;
  const listed = filledLines(decided.values);
  const rulesNow = (): NewRule[] =>
    listed.map((value) => ({
      type,
      value,
      verdict,
      mode: decided.isMonitored ? 'monitor' : 'enforce',
      expiry: lifetime === 'kept' ? (edited?.expiry ?? null) : expiryAfter(lifetime, Date.now()),
      rollout: Number(decided.rollout),
      note: note === '' ? null : note,
    }));
  // The note changes nothing about what a rule does.
  const shown = JSON.stringify(decided);
  const isReady = listed.length > 0 && form.isComplete;

  const look = async (): Promise<void> => {
    setIsBusy('preview');
    const answer = await call('/protect/access-rules/preview', { siteKey, rules: rulesNow() });
    setIsBusy(null);
    setError(answer.ok ? null : answer.error);
    if (answer.ok) setPreview({ of: shown, result: answer.value });
  };
  const add = async (rules: readonly NewRule[]): Promise<Result<unknown, Refusal>> => {
    const answer = await call('/protect/access-rules/create', { siteKey, rules: [...rules] });
    if (!answer.ok) return answer;
    const { created, updated, unchanged } = answer.value;
    const asBefore = unchanged === 0 ? '' : ` ${count(unchanged)} were there already.`;
    const done = `${count(created)} added, ${count(updated)} changed.${asBefore} Every edge follows within seconds.`;
    // Of rules that were there before, the former state is not known here: the history has it.
    toast(done, updated + unchanged === 0 ? { undo: () => void undo(rules) } : {});
    return answer;
  };
  const undo = async (rules: readonly NewRule[]): Promise<void> => {
    const conditions = rules.map((rule) => ({ type: rule.type, value: rule.value }));
    const answer = await call('/protect/access-rules/delete', { siteKey, conditions });
    toast(answer.ok ? 'Undone.' : answer.error.message, { tone: answer.ok ? 'done' : 'failed' });
    onDone();
  };
  const apply = async (): Promise<void> => {
    const rules = rulesNow();
    const [first] = rules;
    if (first === undefined) return;
    setIsBusy('apply');
    const done = await (edited === null ? add(rules) : changeRule(siteKey, edited, edited, first, onDone));
    setIsBusy(null);
    setError(done.ok ? null : done.error);
    if (!done.ok) return;
    onClose();
    onDone();
  };
  const { name, example } = ruleTypes[type];
  return (
    <Dialog
      title={edited === null ? 'Add rules' : 'Change the rule'}
      isWide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button isDisabled={!isReady} isBusy={isBusy === 'preview'} onClick={() => void look()}>
            Preview
          </Button>
          <Button kind="primary" isDisabled={!isReady} isBusy={isBusy === 'apply'} onClick={() => void apply()}>
            {edited === null ? `Add ${listed.length === 1 ? 'the rule' : counted(listed.length, 'rule')}` : 'Change'}
          </Button>
        </>
      }
    >
      <RefusedForm error={error && atLines(error)}>
        <div class="filters">
          {form.fields([
            { name: 'type', label: 'Matches', options: typeOptions, isDisabled: edited !== null },
            { name: 'verdict', label: 'Verdict', options: decisions },
            {
              name: 'lifetime',
              label: 'For',
              options: [...(edited === null ? [] : [['kept', 'as it is'] as const]), ...lifetimeOptions],
            },
            { name: 'rollout', label: 'Percent of visitors', type: 'number' },
          ])}
        </div>
        {form.fields([
          {
            name: 'values',
            label: edited === null ? `${name}, one per line` : name,
            isMono: true,
            rows: edited === null ? 5 : 1,
            placeholder: example,
            isDisabled: edited !== null,
          },
          { name: 'note', label: 'Note' },
          {
            name: 'isMonitored',
            label: 'Only monitor',
            hint: 'The rule is recorded when it matches and decides nothing.',
          },
        ])}
      </RefusedForm>
      {preview !== null && preview.of === shown && <PreviewResult preview={preview.result} />}
    </Dialog>
  );
}
