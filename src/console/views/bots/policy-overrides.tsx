/** Exceptions of a bot policy: for a bot or a behaviour, for a path, or both. */
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/page.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { type TableColumn, Table } from '../../components/table.tsx';
import { type BotAction, botBehaviours } from '../../../contract/vocabulary.ts';
import { actionOptions, type BotPolicyFields } from './policy-words.ts';

type Override = BotPolicyFields['overrides'][number];

export interface PolicyOverridesProps {
  overrides: BotPolicyFields['overrides'];
  bots: readonly string[];
  isDisabled: boolean;
  onChange: (overrides: BotPolicyFields['overrides']) => void;
}

interface Row {
  at: number;
  override: Override;
}

export function PolicyOverrides({ overrides, bots, isDisabled, onChange }: PolicyOverridesProps) {
  const columns: TableColumn<Row>[] = [
    { title: 'Bot or behaviour', cell: ({ override: { bot, behaviour } }) => bot ?? behaviour ?? 'every bot' },
    { title: 'Path', cell: ({ override }) => <code>{override.path ?? 'every path'}</code> },
    { title: 'Gets', cell: ({ override }) => override.action },
    {
      title: 'Remove',
      heading: <span class="unseen">Remove</span>,
      cell: ({ at }) => (
        <Button
          isSmall
          isDisabled={isDisabled}
          label={`Remove exception ${at + 1}`}
          onClick={() => onChange(overrides.filter((_, other) => other !== at))}
        >
          Remove
        </Button>
      ),
    },
  ];
  return (
    <Section title="Exceptions">
      {overrides.length === 0 ? (
        <p class="soft">There are none.</p>
      ) : (
        <Table
          caption="Exceptions"
          columns={columns}
          rows={overrides.map((override, at) => ({ at, override }))}
          keyOf={({ at, override }) => `${at} ${JSON.stringify(override)}`}
        />
      )}
      {!isDisabled && <NewOverride bots={bots} onAdd={(override) => onChange([...overrides, override])} />}
    </Section>
  );
}

function NewOverride({ bots, onAdd }: { bots: readonly string[]; onAdd: (override: Override) => void }) {
  const [name, setName] = useState('');
  const [path, setPath] = useState('');
  const [action, setAction] = useState<BotAction>('block');
  const behaviour = botBehaviours.find((one) => one === name);
  return (
    <div class="policy-grid">
      <TextField
        label="Bot or behaviour"
        hint="Id of a bot, or a behaviour such as training. Empty for every bot"
        value={name}
        suggestions={[...botBehaviours, ...bots]}
        onInput={(text) => setName(text.trim())}
      />
      <TextField
        label="Path"
        hint="As in robots.txt: /drafts/, /*.pdf$. Empty for every path"
        isMono
        value={path}
        onInput={(text) => setPath(text.trim())}
      />
      <SelectField label="Gets" value={action} options={actionOptions} onChange={setAction} />
      <div>
        <Button
          isDisabled={name === '' && path === ''}
          onClick={() => {
            onAdd({
              ...(name === '' ? {} : behaviour === undefined ? { bot: name } : { behaviour }),
              ...(path === '' ? {} : { path }),
              action,
            });
            setName('');
            setPath('');
          }}
        >
          Add exception
        </Button>
      </div>
    </div>
  );
}
