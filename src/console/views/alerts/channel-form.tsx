/** The form of a channel: where it sends, which kinds, and when alerts wait. */
import { useRef } from 'preact/hooks';
import type { AlertKind } from '../../../contract/management/alerts.ts';
import { ok } from '../../../result.ts';
import { call } from '../../api/call.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../components/field.tsx';
import { zoneName } from '../../format/times.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { saveAfterLook } from '../../settings/save-over.ts';
import { useForm } from '../../settings/use-form.ts';
import { offeredAlertKinds, alertKindWords, shapes, type ListedChannel } from './alert-words.ts';

export interface ChannelFormProps {
  /** `null`: a new one. */
  channel: ListedChannel | null;
  onClose: () => void;
  /** @param secret of a new webhook. It is in no other response. */
  onSaved: (channel: ListedChannel, secret: string | null) => void;
}

interface ChannelDraft extends Pick<ListedChannel, 'name' | 'shape' | 'kinds' | 'enabled'> {
  webhookUrl: string;
  isQuiet: boolean;
}

const timeZones = Intl.supportedValuesOf('timeZone');

export function ChannelForm({ channel, onClose, onSaved }: ChannelFormProps) {
  const form = useForm<ChannelDraft>(
    () => ({
      name: channel?.name ?? '',
      shape: channel?.shape ?? 'webhook',
      webhookUrl: '',
      kinds: channel?.kinds ?? [],
      enabled: channel?.enabled ?? true,
      isQuiet: channel !== null && channel.quietHours !== null,
    }),
    // The stored address is never shown, and stays unless another one is typed.
    () => ({ ...forms.channel, webhookUrl: { ...forms.channel.webhookUrl, isRequired: channel === null } }),
  );
  const quiet = useForm(
    () => channel?.quietHours ?? { from: '22:00', until: '07:00', timeZone: zoneName(), except: [] },
    () => forms.quietHours,
  );
  const known = useRef(channel);
  const { name, shape, kinds, enabled, isQuiet } = form.draft;
  const webhookUrl = form.draft.webhookUrl.trim();
  const fields = { name: name.trim(), kinds: [...kinds], quietHours: isQuiet ? quiet.draft : null, enabled };
  const address = webhookUrl === '' ? {} : { webhookUrl };
  const send = async () => {
    if (channel === null) {
      return call('/alerts/channels/create', { shape, ...fields, webhookUrl });
    }
    const changes = { ...changedFields(channel, fields), ...address };
    const answer = await saveAfterLook(known as { current: ListedChannel }, changes, {
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
      isComplete={form.isComplete && (!isQuiet || quiet.isComplete)}
      send={send}
      onMade={(made) => onSaved(made.channel, made.secret)}
      onClose={onClose}
    >
      <TextField {...form.text('name')} label="Name" placeholder="On call" />
      <SelectField {...form.choice('shape')} label="Shape" options={shapes} isDisabled={channel !== null} />
      <TextField
        {...form.text('webhookUrl')}
        label="Address"
        type="url"
        isMono
        hint={
          channel === null
            ? 'https, with a public host name. It is stored encrypted, and never shown again.'
            : `It sends to ${channel.host}. Empty: the stored address stays.`
        }
      />
      <CheckField
        {...form.flag('enabled')}
        label="Send alerts there"
        hint="What waits when a channel is switched off is given up."
      />
      <KindFields
        legend="Kinds that are sent. None chosen: every kind"
        chosen={kinds}
        onChange={(chosen) => form.write({ kinds: chosen })}
      />
      <CheckField
        {...form.flag('isQuiet')}
        label="Quiet hours"
        hint="Alerts of these hours are sent when they are over. A test is sent at any hour."
      />
      {isQuiet && (
        <>
          <div class="columns">
            <TextField {...quiet.text('from')} label="From" placeholder="22:00" />
            <TextField {...quiet.text('until')} label="Until" placeholder="07:00" />
            <TextField
              {...quiet.text('timeZone')}
              label="Time zone"
              placeholder="Europe/Berlin"
              suggestions={timeZones}
            />
          </div>
          <KindFields
            legend="Kinds that do not wait"
            chosen={quiet.draft.except}
            onChange={(except) => quiet.write({ except })}
          />
        </>
      )}
    </CreateDialog>
  );
}

/** Fields that differ from those of the channel. */
function changedFields<Fields extends Partial<ListedChannel>>(channel: ListedChannel, fields: Fields): Partial<Fields> {
  const names = Object.keys(fields) as (keyof Fields & keyof ListedChannel)[];
  const changed = names.filter((name) => JSON.stringify(fields[name]) !== JSON.stringify(channel[name]));
  return Object.fromEntries(changed.map((name) => [name, fields[name]])) as Partial<Fields>;
}

export interface KindFieldsProps {
  legend: string;
  chosen: readonly AlertKind[];
  onChange: (chosen: AlertKind[]) => void;
}

/** Boxes for kinds of alerts. */
export function KindFields({ legend, chosen, onChange }: KindFieldsProps) {
  return (
    <fieldset>
      <legend>{legend}</legend>
      <div class="group-members">
        {offeredAlertKinds.map((kind) => (
          <CheckField
            key={kind}
            label={alertKindWords[kind]}
            isChecked={chosen.includes(kind)}
            onChange={(isChosen) =>
              onChange(offeredAlertKinds.filter((one) => (one === kind ? isChosen : chosen.includes(one))))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
