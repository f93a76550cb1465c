/** Where alerts are sent: channels with their kinds and quiet hours, a test for each, and secrets shown once. */
import { useState } from 'preact/hooks';
import { call, type Refusal, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { CreateDialog, SecretDialog } from '../../components/dialog.tsx';
import { Load, Page, RefusalNotice } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { ViewTabs } from '../../components/tabs.tsx';
import { alertKindWords, type ListedChannel } from './alert-words.ts';
import { ChannelForm } from './channel-form.tsx';

type Open =
  | { kind: 'new' }
  | { kind: 'change' | 'rotate' | 'remove'; channel: ListedChannel }
  | { kind: 'secret'; name: string; secret: string };

export default function Channels() {
  const loaded = useCall('/alerts/channels', {});
  const { reload } = loaded;
  const [open, setOpen] = useState<Open | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  /** Id of the channel that a test is sent to. */
  const [tested, setTested] = useState<string | null>(null);
  const mayChange = may('updateProtectSettings');
  const close = () => setOpen(null);
  const saved = (channel: ListedChannel, secret: string | null): void => {
    setOpen(secret === null ? null : { kind: 'secret', name: channel.name, secret });
    toast(`${channel.name} was saved.`);
    reload();
  };
  const test = async ({ id, name }: ListedChannel): Promise<void> => {
    setTested(id);
    const answer = await call('/alerts/channels/test', { channelId: id });
    setTested(null);
    setFailure(answer.ok ? null : answer.error);
    if (!answer.ok) return;
    const { delivered, error: why } = answer.value;
    if (delivered) toast(`${name} accepted the test.`);
    else toast(`${name} did not accept the test: ${why ?? 'no reason is known'}.`, { tone: 'failed' });
  };
  return (
    <Page
      title="Alerts"
      lead="Where alerts are sent. Addresses count as secrets: they are never shown again."
      actions={
        mayChange && (
          <Button kind="primary" onClick={() => setOpen({ kind: 'new' })}>
            Add a channel
          </Button>
        )
      }
    >
      <ViewTabs of="Alerts" />
      <RefusalNotice error={failure} />
      <Load
        of={loaded}
        isEmpty={({ channels }) => channels.length === 0}
        emptyTitle="No channel yet"
        emptyText="Until there is one, alerts are only listed here."
      >
        {({ channels }) => (
          <Table
            caption="Channels"
            rows={channels}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Name', cell: ({ name }) => <VisitorText text={name} maxChars={100} /> },
              { title: 'Sends', cell: ({ shape, host }) => <VisitorText text={`${shape}, ${host}`} maxChars={80} /> },
              {
                title: 'State',
                cell: ({ enabled }) => (enabled ? <Chip tone="allow">on</Chip> : <Chip>switched off</Chip>),
              },
              { title: 'Kinds', isWide: true, isWrapped: true, cell: ({ kinds }) => kindsText(kinds) },
              { title: 'Quiet hours', isWrapped: true, cell: ({ quietHours }) => quietText(quietHours) },
              { title: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} isBrief /> },
              {
                title: 'Actions',
                cell: (channel) =>
                  mayChange && (
                    <div class="actions">
                      <Button
                        isSmall
                        label={`Send a test to ${channel.name}`}
                        isBusy={tested === channel.id}
                        isDisabled={!channel.enabled}
                        onClick={() => void test(channel)}
                      >
                        Test
                      </Button>
                      <Button
                        isSmall
                        label={`Change ${channel.name}`}
                        onClick={() => setOpen({ kind: 'change', channel })}
                      >
                        Change
                      </Button>
                      {channel.shape === 'webhook' && (
                        <Button
                          isSmall
                          label={`Rotate the secret of ${channel.name}`}
                          onClick={() => setOpen({ kind: 'rotate', channel })}
                        >
                          Rotate
                        </Button>
                      )}
                      <Button
                        isSmall
                        kind="danger"
                        label={`Remove ${channel.name}`}
                        onClick={() => setOpen({ kind: 'remove', channel })}
                      >
                        Remove
                      </Button>
                    </div>
                  ),
              },
            ]}
          />
        )}
      </Load>
      {open?.kind === 'new' && <ChannelForm channel={null} onClose={close} onSaved={saved} />}
      {open?.kind === 'change' && <ChannelForm channel={open.channel} onClose={close} onSaved={saved} />}
      {open?.kind === 'secret' && (
        <SecretDialog title={`Secret of ${open.name}`} secret={open.secret} onClose={close}>
          <p>It is shown only now. The receiver verifies with it that an alert is from Gatehouse.</p>
        </SecretDialog>
      )}
      {open?.kind === 'rotate' && (
        <CreateDialog
          title={`Rotate the secret of ${open.channel.name}?`}
          verb="Rotate"
          send={() => call('/alerts/channels/rotate-secret', { channelId: open.channel.id })}
          onMade={({ secret }) => {
            setOpen({ kind: 'secret', name: open.channel.name, secret });
            reload();
          }}
          onClose={close}
        >
          <p>
            For a day alerts are signed with the former secret too, so the receiver has time to change.
            {open.channel.formerSecretUntil !== null && ' The secret before that one stops counting at once.'}
          </p>
        </CreateDialog>
      )}
      {open?.kind === 'remove' && (
        <CreateDialog
          title={`Remove ${open.channel.name}?`}
          verb="Remove"
          send={() => call('/alerts/channels/delete', { channelId: open.channel.id })}
          onMade={() => {
            toast(`${open.channel.name} was removed.`);
            close();
            reload();
          }}
          onClose={close}
        >
          <p>Nothing is sent there any more, not even what waits. Its secret cannot be brought back.</p>
        </CreateDialog>
      )}
    </Page>
  );
}

function kindsText(kinds: ListedChannel['kinds']): string {
  return kinds.length === 0 ? 'every kind' : kinds.map((kind) => alertKindWords[kind]).join(', ');
}

function quietText(quietHours: ListedChannel['quietHours']): string {
  if (quietHours === null) return 'none';
  const { from, until, timeZone, except } = quietHours;
  const always = except.length === 0 ? '' : `, except ${kindsText(except)}`;
  return `${from} to ${until}, ${timeZone}${always}`;
}
