/** The bots that the account has added: a table, and dialogs that add, change and remove one. */
import { useState } from 'preact/hooks';
import { call, type Refusal } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Confirm, CreateDialog } from '../../components/dialog.tsx';
import { EmptyState, RefusalNotice, Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { counted } from '../../format/numbers.ts';
import { Texts } from './catalogue.tsx';
import { namedBehaviours, type NamedBehaviour } from '../../../contract/vocabulary.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { filledLines } from '../../settings/setting-schema.ts';
import { useForm } from '../../settings/form.tsx';
import type { ResponseOf } from '../../api/service-api.ts';

export function OwnBots({ bots, onChange }: { bots: readonly ListedOwnBot[] | null; onChange: () => void }) {
  /** `new`, or the bot that is changed. */
  const [edited, setEdited] = useState<ListedOwnBot | 'new' | null>(null);
  const [leaving, setLeaving] = useState<ListedOwnBot | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const mayWrite = may('updateProtectSettings');
  const putBack = async (bot: ListedOwnBot): Promise<void> => {
    const answer = await call('/protect/bots/own/add', bot);
    setFailure(answer.ok ? null : answer.error);
    onChange();
  };
  const remove = async (bot: ListedOwnBot): Promise<void> => {
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

export interface OwnBotFormProps {
  /** `null`: a new one. */
  bot: ListedOwnBot | null;
  /** Ids of the bots that the account has. */
  taken: readonly string[];
  onClose: () => void;
  onSaved: (bot: ListedOwnBot) => void;
}

/** The form of an own bot. The service says which of its lines it does not accept. */
export function OwnBotForm({ bot, taken, onClose, onSaved }: OwnBotFormProps) {
  const start = {
    id: bot?.id ?? '',
    behaviours: bot?.behaviours ?? ([] as readonly NamedBehaviour[]),
    patterns: bot?.patterns.join('\n') ?? '',
    networks: bot?.networks.join('\n') ?? '',
    tokens: bot?.tokens.join('\n') ?? '',
    isComplete: bot?.isComplete ?? false,
  };
  const form = useForm(start, forms.ownBot);
  const { behaviours, patterns, networks, tokens, isComplete } = form.draft;
  const id = form.draft.id.trim();
  return (
    <CreateDialog
      title={bot === null ? 'Add a bot' : `Change ${bot.id}`}
      verb={bot === null ? 'Add' : 'Save'}
      isWide
      isComplete={form.isComplete && behaviours.length > 0}
      send={() =>
        call('/protect/bots/own/add', {
          id,
          behaviours: [...behaviours],
          patterns: filledLines(patterns),
          networks: filledLines(networks),
          tokens: filledLines(tokens),
          isComplete,
        })
      }
      onMade={onSaved}
      onClose={onClose}
    >
      {form.fields([
        {
          name: 'id',
          label: 'Id',
          isMono: true,
          placeholder: 'shopbot',
          hint:
            bot === null && taken.includes(id)
              ? 'You have a bot with this id. It is replaced.'
              : 'Small letters, digits, dots and hyphens. With the id of a bot of the catalogue, it takes that bot’s place.',
          isDisabled: bot !== null,
        },
        { name: 'behaviours', label: 'Comes for', options: namedBehaviours },
        {
          name: 'patterns',
          label: 'Texts in its user agent',
          hint: 'One in each line, at the start of a word. ^ in front is the beginning of the user agent, * any place.',
          rows: 3,
          isMono: true,
          placeholder: 'ShopBot/',
        },
        {
          name: 'networks',
          label: 'Networks that it comes from',
          hint: 'One network or address in each line. Without one, its name is only claimed.',
          rows: 4,
          isMono: true,
          placeholder: '198.41.128.0/24',
        },
        { name: 'isComplete', label: 'It comes from nowhere else', hint: 'Others who use its name are impostors.' },
        {
          name: 'tokens',
          label: 'Names in robots.txt',
          hint: 'One in each line.',
          rows: 2,
          isMono: true,
          placeholder: 'ShopBot',
        },
      ])}
    </CreateDialog>
  );
}

/** A bot that the account has added, as the API lists it and takes it. */
export type ListedOwnBot = ResponseOf<'/protect/bots/own'>['bots'][number];
