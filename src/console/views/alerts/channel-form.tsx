/** The form of a channel: where it sends, which kinds, and when alerts wait. */
import { useRef } from 'preact/hooks';
import { ok } from '../../../result.ts';
import { call } from '../../api/call.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { zoneName } from '../../format/times.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { changedMembers, saveAfterLook } from '../../settings/save-over.ts';
import { addressRule } from '../../settings/address-rule.ts';
import { useForm } from '../../settings/form.tsx';
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

const kindOptions = offeredAlertKinds.map((kind) => [kind, alertKindWords[kind]] as const);
const timeZones = Intl.supportedValuesOf('timeZone');

export function ChannelForm({ channel, onClose, onSaved }: ChannelFormProps) {
  const start: ChannelDraft = {
    name: channel?.name ?? '',
    shape: channel?.shape ?? 'webhook',
    webhookUrl: '',
    kinds: channel?.kinds ?? [],
    enabled: channel?.enabled ?? true,
    isQuiet: channel !== null && channel.quietHours !== null,
  };
  // The stored address is never shown, and stays unless another one is typed.
  const webhookSchema = { ...forms.channel.webhookUrl, isRequired: channel === null };
  const form = useForm(start, { ...forms.channel, webhookUrl: webhookSchema });
  const quiet = useForm(
    channel?.quietHours ?? { from: '22:00', until: '07:00', timeZone: zoneName(), except: [] },
    forms.quietHours,
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
    const changes = { ...changedMembers(Object.keys(fields), channel, fields), ...address };
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
      {form.fields([
        { name: 'name', label: 'Name', placeholder: 'On call' },
        { name: 'shape', label: 'Shape', options: shapes, isDisabled: channel !== null },
        {
          name: 'webhookUrl',
          label: 'Address',
          type: 'url',
          isMono: true,
          hint:
            channel === null
              ? `${addressRule()}. It is stored encrypted, and never shown again.`
              : `It sends to ${channel.host}. Empty: the stored address stays.`,
        },
        { name: 'enabled', label: 'Send alerts there', hint: 'What waits when a channel is switched off is given up.' },
        { name: 'kinds', label: 'Kinds that are sent. None chosen: every kind', options: kindOptions },
        {
          name: 'isQuiet',
          label: 'Quiet hours',
          hint: 'Alerts of these hours are sent when they are over. A test is sent at any hour.',
        },
      ])}
      {isQuiet && (
        <>
          <div class="columns">
            {quiet.fields([
              { name: 'from', label: 'From', placeholder: '22:00' },
              { name: 'until', label: 'Until', placeholder: '07:00' },
              { name: 'timeZone', label: 'Time zone', placeholder: 'Europe/Berlin', suggestions: timeZones },
            ])}
          </div>
          {quiet.fields([{ name: 'except', label: 'Kinds that do not wait', options: kindOptions }])}
        </>
      )}
    </CreateDialog>
  );
}
