/** Saves a draft as one version: what it changes, and why. Loaded when somebody wants to. */
import { useState } from 'preact/hooks';
import { failed, type Result } from '../../../result.ts';
import type { Refusal } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import type { ShownDifference } from './difference-lines.ts';
import { DifferenceList } from './differences.tsx';
import { saidWithUndo } from './said-with-undo.ts';

const CONFLICT = 'Somebody else has saved another version meanwhile. Nothing was saved, and your draft is kept.';

export interface SaveDraftProps {
  siteKey: string;
  changes: readonly ShownDifference[];
  save: (note: string) => Promise<Result<ResponseOf<'/protect/policies/set'>, Refusal>>;
  onSaved: () => void;
  onClose: () => void;
}

export function SaveDraft({ siteKey, changes, save, onSaved, onClose }: SaveDraftProps) {
  const [note, setNote] = useState('');
  return (
    <CreateDialog
      title="Save the policies"
      verb="Save"
      isWide
      isComplete={changes.length > 0}
      send={async () => {
        const answer = await save(note);
        if (answer.ok || answer.error.status !== 409) return answer;
        return failed({ ...answer.error, message: CONFLICT, details: [] });
      }}
      onMade={({ version }) => {
        onClose();
        const text = `Saved as version ${version}. The edges follow with their next poll, five seconds by default.`;
        saidWithUndo(text, { siteKey }, version, onSaved);
      }}
      onClose={onClose}
    >
      <DifferenceList differences={{ policies: changes }} />
      <TextField
        label="Why"
        hint="For the history. Optional."
        value={note}
        onInput={setNote}
        maxLength={forms.policySet.note.maxLength}
      />
    </CreateDialog>
  );
}
