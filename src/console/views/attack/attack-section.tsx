/** Attack mode of an instance: its switch, and what an attack that is noticed does. */
import { useRef, useState } from 'preact/hooks';
import { call, useAction, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Load, RefusalNotice, Section } from '../../components/page.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Time } from '../../components/values.tsx';
import { toast } from '../../components/toast.tsx';
import type { Instance } from '../../frame/instances.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { problemIn } from '../../settings/setting-schema.ts';
import { AlarmText, ATTACK_EVERY_MS, triggers, type AttackMode, type Trigger, UntilWhen } from './attack-words.tsx';
import { useAttackSwitch } from './attack-switch.tsx';
import { saveAfterLook } from '../../settings/save-over.ts';

export function AttackSection({ instance: { globalSiteKey: siteKey } }: { instance: Instance }) {
  const loaded = useCall('/protect/attack-mode', { siteKey }, { everyMs: ATTACK_EVERY_MS });
  const { value, reload } = loaded;
  const { buttons, dialog } = useAttackSwitch(siteKey, value, reload);
  return (
    <Section
      title={value === null ? 'Attack mode' : value.active ? 'Attack mode is on' : 'Attack mode is off'}
      actions={buttons}
    >
      <Load of={loaded}>
        {(state) => (
          <div class="stack">
            <State state={state} />
            <TriggerForm
              key={siteKey}
              siteKey={siteKey}
              state={state}
              isDisabled={!may('updateProtectSettings')}
              onSaved={reload}
            />
          </div>
        )}
      </Load>
      {dialog}
    </Section>
  );
}

function State({ state }: { state: AttackMode }) {
  return (
    <p role="status">
      {state.active ? (
        <>
          On since <Time at={state.since} isBrief />, <UntilWhen state={state} />
        </>
      ) : (
        'Visitors meet what the settings say.'
      )}{' '}
      <AlarmText state={state} />
    </p>
  );
}

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

/** What an attack that is noticed does, and from which rate on anything is an attack. */
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
