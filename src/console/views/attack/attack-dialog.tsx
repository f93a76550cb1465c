/** What is asked before attack mode is switched on, with its end, or off. Loaded when somebody wants to. */
import { call } from '../../api/call.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { localTime } from '../../format/times.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { useForm } from '../../settings/form.tsx';
import { rangeText } from '../../settings/setting-schema.ts';
import type { AttackMode } from './attack-words.tsx';

const MINUTE_MS = 60_000;

export interface AttackDialogProps {
  siteKey: string;
  state: AttackMode;
  asking: 'on' | 'off';
  onClose: () => void;
  /** @param text what has become of it. */
  onDone: (text: string) => void;
}

export function AttackDialog({ siteKey, state: { active, alarmSince }, asking, onClose, onDone }: AttackDialogProps) {
  if (asking === 'on') {
    return (
      <SwitchOn
        siteKey={siteKey}
        isOn={active}
        onClose={onClose}
        onDone={(until) => onDone(`Attack mode is on until ${until === null ? 'its end' : localTime(until)}.`)}
      />
    );
  }
  return (
    <CreateDialog
      title="Switch attack mode off?"
      verb="Switch off"
      send={() => call('/protect/attack-mode/set', { siteKey, on: false })}
      onMade={() => onDone('Attack mode is off. The edges follow with their next poll.')}
      onClose={onClose}
    >
      <p>
        The settings of the instance count again.
        {alarmSince !== null && ' It stays off until the next attack is noticed, although this one lasts.'}
      </p>
    </CreateDialog>
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
        and verified bots stay as they are. Switched by hand, it sends no alert.
      </p>
      {form.fields([{ name: 'minutes', label: 'Minutes until it ends', hint }])}
    </CreateDialog>
  );
}
