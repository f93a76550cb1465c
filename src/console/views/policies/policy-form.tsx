/** One policy of the draft. The service looks at the whole draft with it, and writes nothing. */
import { failed, ok } from '../../../result.ts';
import { parseExpression } from '../../../policies/text/parse.ts';
import { printExpression } from '../../../policies/text/print.ts';
import { call, type Refusal } from '../../api/call.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { RefusalInWords, useForm } from '../../settings/form.tsx';
import { ofItem } from '../../settings/refused-paths.ts';
import { ActionFields } from './action-fields.tsx';
import { CloudflareOffer } from './cloudflare-offer.tsx';
import { ConditionEditor } from './condition-editor.tsx';
import { type PolicyDraft, type DraftEntry, moved, policiesOf, withAdded, withPolicy } from './draft.ts';
import { usePolicyPreview } from './policy-preview.tsx';
import { policyModes, type StoredSet, type TextPolicy } from './policy.ts';

export interface PolicyFormProps {
  siteKey: string;
  draft: PolicyDraft;
  stored: StoredSet;
  /** `null`: a new one. */
  entry: DraftEntry | null;
  onDone: (change: (draft: PolicyDraft) => PolicyDraft) => void;
  onClose: () => void;
}

const NEW: TextPolicy = { name: '', when: '', then: { action: 'challenge' }, mode: 'monitor' };
export function PolicyForm({ siteKey, draft, stored, entry, onDone, onClose }: PolicyFormProps) {
  const places = draft.entries.length + (entry === null ? 1 : 0);
  const present = entry === null ? places : draft.entries.findIndex(({ key }) => key === entry.key) + 1;
  const start = { description: '', ...(entry?.policy ?? NEW), place: String(present) };
  const form = useForm(start, forms.policy, {
    problems: ({ place: typed }) => {
      const isPlace = /^\d{1,6}$/.test(typed.trim()) && Number(typed) >= 1 && Number(typed) <= places;
      return isPlace ? {} : { place: `must be a number from 1 to ${places}` };
    },
    isTouched: true,
  });
  const { place, ...policy } = form.draft;
  const parsed = parseExpression(policy.when);
  const { name, description, when, then, mode } = policy;
  const about = description.trim();
  const made: TextPolicy = {
    name: name.trim(),
    ...(about === '' ? {} : { description: about }),
    when: parsed.ok ? printExpression(parsed.value) : when,
    then,
    mode,
  };
  const edit = (to: PolicyDraft): PolicyDraft => {
    const next = entry === null ? withAdded(to, [made]) : withPolicy(to, entry.key, made);
    const key = entry?.key ?? next.entries.at(-1)!.key;
    return Number(place) === present ? next : moved(next, key, Number(place) - 1);
  };
  const isComplete = form.isComplete && parsed.ok;
  const policies = isComplete ? policiesOf(edit(draft).entries) : [];
  const ofForm = (error: Refusal): Refusal => ofItem(error, 'policies', policies, made.name);
  const preview = usePolicyPreview(siteKey, isComplete ? { policies } : null);
  const send = async () => {
    const answer = await call('/protect/policies/set', { siteKey, policies, dryRun: true });
    return answer.ok ? ok(edit) : failed(ofForm(answer.error));
  };
  return (
    <CreateDialog
      title={entry === null ? 'Add a policy' : `Change ${entry.policy.name}`}
      verb={entry === null ? 'Add to the draft' : 'Change in the draft'}
      isWide
      isComplete={isComplete}
      action={preview.button}
      send={send}
      onMade={onDone}
      onClose={onClose}
    >
      {form.fields([
        {
          name: 'name',
          label: 'Name',
          hint: 'Small letters, digits and hyphens. The log has it as policy:NAME.',
          isMono: true,
          placeholder: 'log-in-without-cookie',
        },
      ])}
      <ConditionEditor value={policy.when} onInput={(next) => form.write({ when: next })} />
      <CloudflareOffer siteKey={siteKey} text={policy.when} onTake={(next) => form.write({ when: next })} />
      <div class="policy-grid">
        <ActionFields then={policy.then} stored={stored} onChange={(next) => form.write({ then: next })} />
        {form.fields([
          { name: 'mode', label: 'Mode', options: policyModes },
          { name: 'place', label: 'Place', hint: 'Policies are read in their order.' },
        ])}
      </div>
      {form.fields([{ name: 'description', label: 'Description', hint: 'For people. Optional.' }])}
      <RefusalInWords error={preview.error && ofForm(preview.error)} />
      {preview.result}
    </CreateDialog>
  );
}
