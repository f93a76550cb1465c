/** Adds rules, or changes one: first what the change would have done, then the change, with an undo. */
import { useState } from 'preact/hooks';
import { ok, type Result } from '../../../result.ts';
import { call, type Refusal } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { count, counted } from '../../format/numbers.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { RefusedForm, useForm } from '../../settings/form.tsx';
import { decisions } from '../../../contract/vocabulary.ts';
import { EDGE_RULES_PER_CALL_MAX } from '../../../contract/management/edge-rule-limits.ts';
import { PreviewResult, type Preview } from './preview.tsx';
import { changeRule } from './rule-change.ts';
import { expiryAfter, lifetimeOptions, ruleTypes, type Lifetime, type NewRule, type Rule } from './rule.ts';
import { atLines, detectedText, type TypedValue, typedValues } from './typed-values.ts';

export interface AddRulesProps {
  siteKey: string;
  /** `null`: new rules. */
  edited: Rule | null;
  onClose: () => void;
  onDone: () => void;
}

const typeOptions = [
  ['detected', 'what a line is'],
  ['userAgent', 'a part of a user agent'],
] as const;

const TYPES_HINT =
  'An address, a network, AS64496, NL, a JA4 fingerprint, or a user agent such as curl/8.5. For a part of a user agent, choose it under Matches. # begins a comment.';

function verbOf(rules: number): string {
  return rules === 0 ? 'Add' : `Add ${rules === 1 ? 'the rule' : counted(rules, 'rule')}`;
}

function problemsIn(values: Result<TypedValue[], string>): { values?: string } {
  if (!values.ok) return { values: values.error };
  if (values.value.length <= EDGE_RULES_PER_CALL_MAX) return {};
  return { values: `has more than ${count(EDGE_RULES_PER_CALL_MAX)} values: import them as a file` };
}

export function AddRules({ siteKey, edited, onClose, onDone }: AddRulesProps) {
  const start = {
    type: (edited?.type ?? 'detected') as Rule['type'] | 'detected',
    values: edited?.value ?? '',
    verdict: edited?.verdict ?? 'block',
    isMonitored: edited?.mode === 'monitor',
    lifetime: (edited === null ? 'none' : 'kept') as Lifetime | 'kept',
    rollout: String(edited?.rollout ?? 100),
    note: edited?.note ?? '',
  };
  const read = ({ values, type }: typeof start): Result<TypedValue[], string> =>
    edited === null ? typedValues(values, type) : ok([{ line: 1, type: edited.type, value: edited.value }]);
  const form = useForm(
    start,
    { note: forms.accessRule.note },
    { problems: (typed) => problemsIn(read(typed)), isTouched: true },
  );
  const [preview, setPreview] = useState<{ of: string; result: Preview } | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const [isBusy, setIsBusy] = useState<'preview' | 'apply' | null>(null);

  const { note, ...decided } = form.draft;
  const { type: chosen, verdict, lifetime } = decided;
  const values = read(form.draft);
  const listed = values.ok ? values.value : [];
  const rulesNow = (): NewRule[] =>
    listed.map(({ type, value }) => ({
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
  const isDetected = chosen === 'detected';
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
            {edited === null ? verbOf(listed.length) : 'Change'}
          </Button>
        </>
      }
    >
      <RefusedForm error={error && atLines(error, listed)}>
        <div class="filters">
          {form.fields([
            {
              name: 'type',
              label: 'Matches',
              options: edited === null ? typeOptions : [[edited.type, ruleTypes[edited.type].name]],
              isDisabled: edited !== null,
            },
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
            label: edited === null ? 'Values, one per line' : 'Value',
            isMono: true,
            rows: edited === null ? 5 : 1,
            placeholder: isDetected ? '192.0.2.1\n198.51.100.0/24\nAS64496' : 'badbot',
            isDisabled: edited !== null,
            ...(isDetected ? { hint: listed.length > 0 ? `${detectedText(listed)}.` : TYPES_HINT } : {}),
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
