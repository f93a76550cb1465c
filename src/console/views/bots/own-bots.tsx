/** The bots that the account has added: a table, and dialogs that add, change and remove one. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import type { Refusal } from '../../api/send.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Section } from '../../components/facts.tsx';
import { EmptyState, RefusalNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { counted } from '../../format/numbers.ts';
import { Texts } from './catalogue.tsx';
import type { OwnBot } from './own-bot.ts';
import { OwnBotForm } from './own-bot-form.tsx';

export function OwnBots({ bots, onChange }: { bots: readonly OwnBot[] | null; onChange: () => void }) {
  /** `new`, or the bot that is changed. */
  const [edited, setEdited] = useState<OwnBot | 'new' | null>(null);
  const [leaving, setLeaving] = useState<OwnBot | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const mayWrite = may('updateProtectSettings');
  const putBack = async (bot: OwnBot): Promise<void> => {
    const answer = await call('/protect/bots/own/add', bot);
    setFailure(answer.ok ? null : answer.error);
    onChange();
  };
  const remove = async (bot: OwnBot): Promise<void> => {
    setLeaving(null);
    const answer = await call('/protect/bots/own/remove', { id: bot.id });
    setFailure(answer.ok ? null : answer.error);
    if (answer.ok) toast(`${bot.id} was removed.`, { undo: () => void putBack(bot) });
    onChange();
  };
  return (
    <Section
      title="Your own bots"
      actions={
        mayWrite && (
          <Button kind="primary" onClick={() => setEdited('new')}>
            Add a bot
          </Button>
        )
      }
    >
      <RefusalNotice error={failure} />
      {bots !== null && bots.length === 0 && (
        <EmptyState title="No bot of your own">
          <p>A monitor of yours, a partner's crawler: add it, and the bot policy holds for it.</p>
        </EmptyState>
      )}
      {bots !== null && bots.length > 0 && (
        <Table
          caption="Your own bots"
          rows={bots}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Bot', cell: ({ id }) => id },
            { title: 'Comes for', isWrapped: true, cell: ({ behaviours }) => behaviours.join(', ') },
            {
              title: 'User agent has',
              isWide: true,
              isWrapped: true,
              cell: ({ patterns }) => <Texts texts={patterns} />,
            },
            { title: 'Comes from', isWrapped: true, cell: ({ networks }) => <Texts texts={networks} shown={3} /> },
            { title: 'Others with its name', cell: ({ isComplete }) => (isComplete ? 'impostors' : 'claim it') },
            {
              title: 'Actions',
              cell: (bot) =>
                mayWrite && (
                  <div class="actions">
                    <Button isSmall label={`Change ${bot.id}`} onClick={() => setEdited(bot)}>
                      Change
                    </Button>
                    <Button isSmall kind="danger" label={`Remove ${bot.id}`} onClick={() => setLeaving(bot)}>
                      Remove
                    </Button>
                  </div>
                ),
            },
          ]}
        />
      )}
      {edited !== null && (
        <OwnBotForm
          bot={edited === 'new' ? null : edited}
          taken={(bots ?? []).map(({ id }) => id)}
          onClose={() => setEdited(null)}
          onSaved={({ id }) => {
            setEdited(null);
            setFailure(null);
            toast(`${id} counts at the edges within seconds.`);
            onChange();
          }}
        />
      )}
      {leaving !== null && (
        <Confirm
          title={`Remove ${leaving.id}?`}
          verb="Remove"
          onClose={() => setLeaving(null)}
          onConfirm={() => void remove(leaving)}
        >
          <p>
            Edges no longer know its {counted(leaving.patterns.length, 'user agent')} and{' '}
            {counted(leaving.networks.length, 'network')}, and exceptions of the bot policy that name it have no effect.
            If the catalogue has a bot with this id, that one counts again.
          </p>
        </Confirm>
      )}
    </Section>
  );
}
