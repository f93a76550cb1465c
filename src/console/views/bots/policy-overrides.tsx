/** Exceptions of a bot policy: for a bot or a behaviour, for a path, or both. */
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/page.tsx';
import { useForm } from '../../settings/form.tsx';
import { Table, type TableColumn } from '../../components/table.tsx';
import { botActions, botBehaviours, type BotAction } from '../../../contract/vocabulary.ts';
import type { Schema } from '../../api/service-api.ts';

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
  const form = useForm({ name: '', path: '', action: 'block' as BotAction }, {});
  const { action } = form.draft;
  const [name, path] = [form.draft.name.trim(), form.draft.path.trim()];
  const behaviour = botBehaviours.find((one) => one === name);
  return (
    <div class="policy-grid">
      {form.fields([
        {
          name: 'name',
          label: 'Bot or behaviour',
          hint: 'Id of a bot, or a behaviour such as training. Empty for every bot',
          suggestions: [...botBehaviours, ...bots],
        },
        {
          name: 'path',
          label: 'Path',
          hint: 'As in robots.txt: /drafts/, /*.pdf$. Empty for every path',
          isMono: true,
        },
        { name: 'action', label: 'Gets', options: actionOptions },
      ])}
      <div>
        <Button
          isDisabled={name === '' && path === ''}
          onClick={() => {
            onAdd({
              ...(name === '' ? {} : behaviour === undefined ? { bot: name } : { behaviour }),
              ...(path === '' ? {} : { path }),
              action,
            });
            form.write({ name: '', path: '' });
          }}
        >
          Add exception
        </Button>
      </div>
    </div>
  );
}

/** The actions of a bot policy, in words. */
export type BotPolicyFields = Schema<'BotPolicy'>;

const actionTexts: Record<BotAction, string> = {
  allow: 'allow: passes',
  challenge: 'challenge: is challenged',
  block: 'block: 403',
  charge: 'charge: 402 with the price',
  inherit: 'inherit: as the rest of the policy says',
};
export const actionOptions = botActions.map((action) => [action, actionTexts[action]] as const);
