/** The form of a channel: where it sends, which kinds, and when alerts wait. */
import { useRef, useState } from 'preact/hooks';
import { ok } from '../../../result.ts';
import { call } from '../../api/call.ts';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { zoneName } from '../../format/times.ts';
import { saveAfterLook } from '../../settings/save-after-look.ts';
import { type AlertKind, type Channel, shapes } from './alert-words.ts';
import { KindFields } from './kind-fields.tsx';

export interface ChannelFormProps {
  /** `null`: a new one. */
  channel: Channel | null;
  onClose: () => void;
  /** @param secret of a new webhook. It is in no other response. */
  onSaved: (channel: Channel, secret: string | null) => void;
}

const timeZones = Intl.supportedValuesOf('timeZone');

export function ChannelForm({ channel, onClose, onSaved }: ChannelFormProps) {
  const [name, setName] = useState(channel?.name ?? '');
  const [shape, setShape] = useState<Channel['shape']>(channel?.shape ?? 'webhook');
  const [webhookUrl, setWebhookUrl] = useState('');
  const [kinds, setKinds] = useState<readonly AlertKind[]>(channel?.kinds ?? []);
  const [isOn, setIsOn] = useState(channel?.enabled ?? true);
  const [isQuiet, setIsQuiet] = useState(channel !== null && channel.quietHours !== null);
  const [quiet, setQuiet] = useState(
    () => channel?.quietHours ?? { from: '22:00', until: '07:00', timeZone: zoneName(), except: [] },
  );
  const known = useRef(channel);
  const fields = { name: name.trim(), kinds: [...kinds], quietHours: isQuiet ? quiet : null, enabled: isOn };
  const address = webhookUrl.trim() === '' ? {} : { webhookUrl: webhookUrl.trim() };
  const send = async () => {
    if (channel === null) {
      return call('/alerts/channels/create', { shape, ...fields, webhookUrl: webhookUrl.trim() });
    }
    const changes = { ...changedFields(channel, fields), ...address };
    const answer = await saveAfterLook(known as { current: Channel }, changes, {
      load: async () => {
        const now = await call('/alerts/channels', {});
        return now.ok ? ok(now.value.channels.find(({ id }) => id === channel.id) ?? channel) : now;
      },
      save: () => call('/alerts/channels/update', { channelId: channel.id, ...changes }),
    });
    return answer.ok ? ok({ channel: answer.value, secret: null }) : answer;
  };
  return (
    <CreateDialog
      title={channel === null ? 'Add a channel' : `Change ${channel.name}`}
      verb={channel === null ? 'Add' : 'Save'}
      isWide
      isComplete={name.trim() !== '' && (channel !== null || webhookUrl.trim() !== '')}
      send={send}
      onMade={(made) => onSaved(made.channel, made.secret)}
      onClose={onClose}
    >
      <TextField label="Name" placeholder="On call" maxLength={100} value={name} onInput={setName} />
      <SelectField label="Shape" value={shape} options={shapes} onChange={setShape} isDisabled={channel !== null} />
      <TextField
        label="Address"
        type="url"
        isMono
        maxLength={2048}
        hint={
          channel === null
            ? 'https, with a public host name. It is stored encrypted, and never shown again.'
            : `It sends to ${channel.host}. Empty: the stored address stays.`
        }
        value={webhookUrl}
        onInput={setWebhookUrl}
      />
      <CheckField
        label="Send alerts there"
        hint="What waits when a channel is switched off is given up."
        isChecked={isOn}
        onChange={setIsOn}
      />
      <KindFields legend="Kinds that are sent. None chosen: every kind" chosen={kinds} onChange={setKinds} />
      <CheckField
        label="Quiet hours"
        hint="Alerts of these hours are sent when they are over. A test is sent at any hour."
        isChecked={isQuiet}
        onChange={setIsQuiet}
      />
      {isQuiet && (
        <>
          <div class="columns">
            <TextField
              label="From"
              placeholder="22:00"
              maxLength={5}
              value={quiet.from}
              onInput={(from) => setQuiet({ ...quiet, from })}
            />
            <TextField
              label="Until"
              placeholder="07:00"
              maxLength={5}
              value={quiet.until}
              onInput={(until) => setQuiet({ ...quiet, until })}
            />
            <TextField
              label="Time zone"
              placeholder="Europe/Berlin"
              maxLength={64}
              suggestions={timeZones}
              value={quiet.timeZone}
              onInput={(timeZone) => setQuiet({ ...quiet, timeZone })}
            />
          </div>
          <KindFields
            legend="Kinds that do not wait"
            chosen={quiet.except}
            onChange={(except) => setQuiet({ ...quiet, except: [...except] })}
          />
        </>
      )}
    </CreateDialog>
  );
}

/** Fields that differ from those of the channel. */
function changedFields<Fields extends Partial<Channel>>(channel: Channel, fields: Fields): Partial<Fields> {
  const names = Object.keys(fields) as (keyof Fields & keyof Channel)[];
  const changed = names.filter((name) => JSON.stringify(fields[name]) !== JSON.stringify(channel[name]));
  return Object.fromEntries(changed.map((name) => [name, fields[name]])) as Partial<Fields>;
}
