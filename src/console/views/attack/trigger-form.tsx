/** What an attack that is noticed does, and from which rate on anything is an attack. */
import { useRef, useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { toast } from '../../components/toast.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { saveAfterLook } from '../../settings/save-after-look.ts';
import { problemIn } from '../../settings/setting-schema.ts';
import { type AttackMode, type Trigger, triggers } from './attack-mode.ts';

export interface TriggerFormProps {
  siteKey: string;
  /** What is stored. */
  state: AttackMode;
  isDisabled: boolean;
  onSaved: () => void;
}

interface Draft {
  trigger?: Trigger;
  /** As it is typed. */
  rate?: string;
}

export function TriggerForm({ siteKey, state, isDisabled, onSaved }: TriggerFormProps) {
  const [draft, setDraft] = useState<Draft>({});
  const { isBusy, error, run } = useAction();
  /** What the form showed when its first field was changed. */
  const known = useRef(state);
  const { trigger = state.trigger, rate = String(state.minimumRate) } = draft;
  const changes = {
    ...(trigger === state.trigger ? {} : { trigger }),
    ...(rate === String(state.minimumRate) ? {} : { minimumRate: Number(rate) }),
  };
  const problem = problemIn(forms.attackMode.minimumRate, rate);
  const isChanged = Object.keys(changes).length > 0;
  const write = (change: Draft): void => {
    if (Object.keys(draft).length === 0) known.current = state;
    setDraft({ ...draft, ...change });
  };
  const save = async (): Promise<void> => {
    const saved = await run(
      saveAfterLook(known, changes, {
        load: () => call('/protect/attack-mode', { siteKey }),
        save: () => call('/protect/attack-mode/set', { siteKey, ...changes }),
      }),
    );
    if (saved === null) return;
    toast('Saved.');
    setDraft({});
    onSaved();
  };
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged && !isBusy) void save();
      }}
    >
      <RefusalNotice error={error} />
      <div class="form">
        <SelectField
          label="When an attack is noticed"
          value={trigger}
          options={triggers}
          onChange={(next) => write({ trigger: next })}
          isDisabled={isDisabled}
        />
        <TextField
          label="Requests a second below which nothing is an attack"
          type="number"
          value={rate}
          error={problem}
          onInput={(next) => write({ rate: next })}
          isDisabled={isDisabled}
        />
      </div>
      {!isDisabled && isChanged && (
        <div class="actions">
          <Button onClick={() => setDraft({})}>Discard</Button>
          <Button type="submit" kind="primary" isBusy={isBusy} isDisabled={rate.trim() === '' || problem !== null}>
            Save what an attack does
          </Button>
        </div>
      )}
    </form>
  );
}
