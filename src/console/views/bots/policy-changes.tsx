/** What a change of the bot policy would do: which bots get something else, and how often they came in the last day. */
import { useCall } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { Section } from '../../components/facts.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { count, counted } from '../../format/numbers.ts';

type Robots = ResponseOf<'/protect/robots'>;

interface Changed {
  id: string;
  from: string;
  to: string;
  /** In the last day. `null`: few, or none. */
  requests: number | null;
}

const ROWS_SHOWN_MAX = 20;

const columns: Column<Changed>[] = [
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

export function PolicyChanges({ siteKey, before, after }: PolicyChangesProps) {
  const traffic = useCall('/protect/traffic-by-dimension', { siteKey, groupBy: 'bot', topN: 50 });
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
