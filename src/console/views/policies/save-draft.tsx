/** Saves a draft as one version: what it changes, and why. */
import { useState } from 'preact/hooks';
import { failed } from '../../../result.ts';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { toast } from '../../components/toast.tsx';
import { Differences } from './differences.tsx';
import type { DraftState } from './use-policy-set.ts';

const CONFLICT = 'Somebody else has saved another version meanwhile. Nothing was saved, and your draft is kept.';

export function SaveDraft({ state: { changes, save }, onClose }: { state: DraftState; onClose: () => void }) {
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
        toast(`Saved as version ${version}. The edges follow with their next poll, five seconds by default.`);
      }}
      onClose={onClose}
    >
      <Differences differences={{ policies: changes }} />
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
