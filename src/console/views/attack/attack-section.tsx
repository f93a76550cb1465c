/** The switch of attack mode, which always has an end, and what an attack that is noticed does. */
import { useRef, useState } from 'preact/hooks';
import { call, useAction, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { CreateDialog } from '../../components/dialog.tsx';
import { Load, RefusalNotice, Section } from '../../components/page.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Time } from '../../components/values.tsx';
import { toast } from '../../components/toast.tsx';
import { localTime } from '../../format/times.ts';
import type { Instance } from '../../frame/instances.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { problemIn, rangeText } from '../../settings/setting-schema.ts';
import { useForm } from '../../settings/form.tsx';
import { AlarmText, ATTACK_EVERY_MS, triggers, type AttackMode, type Trigger, UntilWhen } from './attack-notice.tsx';
import { saveAfterLook } from '../../settings/save-over.ts';

const MINUTE_MS = 60_000;

export function AttackSection({ instance: { globalSiteKey: siteKey } }: { instance: Instance }) {
  const loaded = useCall('/protect/attack-mode', { siteKey }, { everyMs: ATTACK_EVERY_MS });
  const { value, reload } = loaded;
  const [asking, setAsking] = useState<'on' | 'off' | null>(null);
  const mayChange = may('updateProtectSettings');
  const done = (text: string): void => {
    setAsking(null);
    toast(text);
    reload();
  };
  return (
    <Section
      title={value === null ? 'Attack mode' : value.active ? 'Attack mode is on' : 'Attack mode is off'}
      actions={
        mayChange &&
        value !== null && (
          <>
            <Button kind={value.active ? 'plain' : 'primary'} onClick={() => setAsking('on')}>
              {value.active ? 'Give it another end…' : 'Switch on…'}
            </Button>
            {value.active && <Button onClick={() => setAsking('off')}>Switch off…</Button>}
          </>
        )
      }
    >
      <Load of={loaded}>
        {(state) => (
          <div class="stack">
            <State state={state} />
            <TriggerForm key={siteKey} siteKey={siteKey} state={state} isDisabled={!mayChange} onSaved={reload} />
          </div>
        )}
      </Load>
      {asking === 'on' && (
        <SwitchOn
          siteKey={siteKey}
          isOn={value?.active === true}
          onClose={() => setAsking(null)}
          onDone={(until) => done(`Attack mode is on until ${until === null ? 'its end' : localTime(until)}.`)}
        />
      )}
      {asking === 'off' && (
        <CreateDialog
          title="Switch attack mode off?"
          verb="Switch off"
          send={() => call('/protect/attack-mode/set', { siteKey, on: false })}
          onMade={() => done('Attack mode is off. The edges follow with their next poll.')}
          onClose={() => setAsking(null)}
        >
          <p>
            The settings of the instance count again.
            {value !== null &&
              value.alarmSince !== null &&
              ' It stays off until the next attack is noticed, although this one lasts.'}
          </p>
        </CreateDialog>
      )}
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

function SwitchOn(props: {
  siteKey: string;
  isOn: boolean;
  onClose: () => void;
  onDone: (until: number | null) => void;
}) {
  const { siteKey, isOn, onClose, onDone } = props;
  const form = useForm({ minutes: String(forms.attackMode.minutes.default) }, forms.attackMode);
  const length = Number(form.draft.minutes);
  const end = form.isComplete ? ` It ends ${localTime(Date.now() + length * MINUTE_MS)}.` : '';
  const hint = `${rangeText(forms.attackMode.minutes)}, which is a week.${end}`;
  return (
    <CreateDialog
      title={isOn ? 'Give attack mode another end' : 'Switch attack mode on'}
      verb={isOn ? 'Set the end' : 'Switch on'}
      isComplete={form.draft.minutes.trim() !== '' && Number.isInteger(length)}
      send={() => call('/protect/attack-mode/set', { siteKey, on: true, minutes: length })}
      onMade={({ until }) => onDone(until)}
      onClose={onClose}
    >
      <p>
        Pages without a session are challenged, and new challenges cost 2.5 times the work. Sessions, clearances, rules,
        and verified bots stay as they are.
      </p>
      {form.fields([{ name: 'minutes', label: 'Minutes until it ends', hint }])}
    </CreateDialog>
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
