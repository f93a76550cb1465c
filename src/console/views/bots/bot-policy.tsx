/** What bots get: a preset, one switch for each behaviour, exceptions, and the price. Nothing changes before it is saved. */
import { useCall } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Page, RefusalNotice, Section, Warning } from '../../components/page.tsx';
import { OfInstance } from '../../components/of-instance.tsx';
import { shownInstance, loadInstances, type Instance } from '../../frame/instances.ts';
import { SaveBar, instanceAsStored, useSaved } from '../../settings/use-saved.tsx';
import { useParams } from '../../url/params.ts';
import { ViewTabs } from '../../components/tabs.tsx';
import { PolicyFields } from './policy-fields.tsx';
import type { BotPolicyFields } from './policy-overrides.tsx';
import { Table, type TableColumn } from '../../components/table.tsx';
import { VisitorText } from '../../components/values.tsx';
import { count, counted } from '../../format/numbers.ts';

export default function BotPolicy() {
  const [params] = useParams();
  const instance = shownInstance(params);
  return (
    <Page
      title="Bots"
      lead="What bots get that say who they are. robots.txt tells them the same."
      calls={
        instance === null
          ? []
          : [
              {
                method: 'POST',
                path: '/protect/instances/update',
                body: { id: instance.id, botPolicy: instance.botPolicy },
              },
            ]
      }
    >
      <ViewTabs of="Bots" />
      <OfInstance>{(one) => <Editor key={one.id} instance={one} />}</OfInstance>
    </Page>
  );
}

function Editor({ instance }: { instance: Instance }) {
  const { globalSiteKey: siteKey } = instance;
  const saved = useSaved(['botPolicy'], {
    ...instanceAsStored(instance),
    savedText: 'Saved. The edges and robots.txt follow with their next poll, five seconds by default.',
    onSaved: () => void loadInstances(),
  });
  const current = saved.stored['botPolicy'] as BotPolicyFields;
  const policy = saved.current['botPolicy'] as BotPolicyFields;
  const isChanged = 'botPolicy' in saved.changes;
  const inForce = useCall('/protect/robots', { siteKey, botPolicy: current });
  const tried = useCall('/protect/robots', { siteKey, botPolicy: policy });
  const isDisabled = !may('updateProtectSettings');
  return (
    <form
      class="settings bot-policy"
      onSubmit={(event) => {
        event.preventDefault();
        if (isChanged) void saved.save();
      }}
    >
      {instance.monitor && <Warning>The instance is in monitor mode: what bots would get is only recorded.</Warning>}
      <RefusalNotice error={saved.error} />
      <PolicyFields
        policy={policy}
        behaviours={tried.value?.behaviours ?? null}
        bots={tried.value?.bots.map((bot) => bot.id) ?? []}
        isDisabled={isDisabled}
        onChange={(change) => saved.change({ botPolicy: { ...policy, ...change } })}
      />
      <RefusalNotice error={tried.error} />
      {isChanged && tried.error === null && (
        <PolicyChanges siteKey={siteKey} before={inForce.value} after={tried.isLoading ? null : tried.value} />
      )}
      {!isDisabled && <SaveBar saved={saved} text={isChanged ? 'Changed' : 'No changes'} />}
    </form>
  );
}

type Robots = ResponseOf<'/protect/robots'>;

interface Changed {
  id: string;
  from: string;
  to: string;
  /** In the last day. `null`: few, or none. */
  requests: number | null;
}

const ROWS_SHOWN_MAX = 20;

const columns: TableColumn<Changed>[] = [
  { title: 'Bot', cell: ({ id }) => <VisitorText text={id} /> },
  { title: 'Gets now', cell: ({ from }) => from },
  { title: 'Would get', cell: ({ to }) => to },
  {
    title: 'Requests in 24 hours',
    isNumber: true,
    cell: ({ requests }) => (requests === null ? '–' : count(requests)),
  },
];

export interface PolicyChangesProps {
  siteKey: string;
  before: Robots | null;
  /** `null` while it is worked out. */
  after: Robots | null;
}

/** What a change of the bot policy would do: which bots get something else, and how often they came in the last day. */
export function PolicyChanges({ siteKey, before, after }: PolicyChangesProps) {
  const traffic = useCall('/protect/traffic-by-dimension', {
    siteKey,
    groupBy: 'bot',
    topN: 50,
    includeInternal: false,
  });
  if (before === null || after === null) return <p class="soft">Working out what changes…</p>;
  const came = new Map(traffic.value?.series.map(({ value, total }) => [value, total]));
  const actions = new Map(before.bots.map(({ id, action }) => [id, action]));
  const rows = after.bots
    .map(({ id, action }): Changed => ({
      id,
      from: actions.get(id) ?? action,
      to: action,
      requests: came.get(id) ?? null,
    }))
    .filter(({ from, to }) => from !== to)
    .sort((a, b) => (b.requests ?? 0) - (a.requests ?? 0));
  const requests = rows.reduce((sum, row) => sum + (row.requests ?? 0), 0);
  const isFileSame = before.served === after.served;
  return (
    <Section title="What changes">
      <p>
        {rows.length === 0
          ? 'No bot gets something else everywhere.'
          : `${counted(rows.length, 'bot')} would get something else. They made ${counted(requests, 'request')} in the last 24 hours.`}{' '}
        robots.txt {isFileSame ? 'stays as it is' : 'changes'}.
      </p>
      {rows.length > 0 && (
        <Table
          caption="Bots that would get something else"
          columns={columns}
          rows={rows.slice(0, ROWS_SHOWN_MAX)}
          keyOf={({ id }) => id}
        />
      )}
      {rows.length > ROWS_SHOWN_MAX && <p class="soft">And {counted(rows.length - ROWS_SHOWN_MAX, 'other bot')}.</p>}
    </Section>
  );
}
