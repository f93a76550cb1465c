/** One policy of the draft. The service looks at the whole draft with it, and writes nothing. */
import { useState } from 'preact/hooks';
import { ok } from '../../../result.ts';
import { parseExpression } from '../../../policies/text/parse.ts';
import { printExpression } from '../../../policies/text/print.ts';
import { call } from '../../api/call.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { problemIn } from '../../settings/setting-schema.ts';
import { ActionFields } from './action-fields.tsx';
import { ConditionField } from './condition-field.tsx';
import { type PolicyDraft, type DraftEntry, moved, policiesOf, withAdded, withPolicy } from './draft.ts';
import type { TextPolicy, StoredSet } from './policy.ts';

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
const modes = [
  ['monitor', 'monitor: only recorded'],
  ['enforce', 'enforce'],
] as const;

export function PolicyForm({ siteKey, draft, stored, entry, onDone, onClose }: PolicyFormProps) {
  const [policy, setPolicy] = useState(entry?.policy ?? NEW);
  const places = draft.entries.length + (entry === null ? 1 : 0);
  const present = entry === null ? places : draft.entries.findIndex(({ key }) => key === entry.key) + 1;
  const [place, setPlace] = useState(String(present));
  const isPlace = /^\d{1,6}$/.test(place.trim()) && Number(place) >= 1 && Number(place) <= places;
  const change = (fields: Partial<TextPolicy>): void => setPolicy((former) => ({ ...former, ...fields }));
  const isNamed = policy.name.trim() !== '' && problemIn(forms.policy.name, policy.name) === null;
  const parsed = parseExpression(policy.when);
  const send = async () => {
    const { description, ...fields } = policy;
    const about = description?.trim() ?? '';
    const made: TextPolicy = {
      name: fields.name.trim(),
      ...(about === '' ? {} : { description: about }),
      when: parsed.ok ? printExpression(parsed.value) : fields.when,
      then: fields.then,
      mode: fields.mode,
    };
    const edit = (to: PolicyDraft): PolicyDraft => {
      const next = entry === null ? withAdded(to, [made]) : withPolicy(to, entry.key, made);
      const key = entry?.key ?? next.entries.at(-1)!.key;
      return Number(place) === present ? next : moved(next, key, Number(place) - 1);
    };
    const answer = await call('/protect/policies/set', {
      siteKey,
      policies: policiesOf(edit(draft).entries),
      dryRun: true,
    });
    return answer.ok ? ok(edit) : answer;
  };
  return (
    <CreateDialog
      title={entry === null ? 'Add a policy' : `Change ${entry.policy.name}`}
      verb={entry === null ? 'Add to the draft' : 'Change in the draft'}
      isWide
      isComplete={isNamed && parsed.ok && isPlace}
      send={send}
      onMade={onDone}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Small letters, digits and hyphens. The log has it as policy:NAME."
        isMono
        path="name"
        error={problemIn(forms.policy.name, policy.name)}
        maxLength={forms.policy.name.maxLength}
        placeholder="log-in-without-cookie"
        value={policy.name}
        onInput={(name) => change({ name })}
      />
      <ConditionField value={policy.when} onInput={(when) => change({ when })} />
      <ActionFields then={policy.then} stored={stored} onChange={(then) => change({ then })} />
      <SelectField label="Mode" value={policy.mode} options={modes} onChange={(mode) => change({ mode })} />
      <TextField
        label="Place"
        hint="Policies are read in their order."
        error={isPlace ? null : `must be a number from 1 to ${places}`}
        value={place}
        onInput={setPlace}
      />
      <TextField
        label="Description"
        hint="For people. Optional."
        maxLength={forms.policy.description.maxLength}
        value={policy.description ?? ''}
        onInput={(description) => change({ description })}
      />
    </CreateDialog>
  );
}
