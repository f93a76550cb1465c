/** The requests of a session, newest first. The time leads to the verdict. */
import { DecisionChip } from '../../components/chip.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { addressOf } from '../../url/params.ts';
import type { RiskHistory } from './session-data.ts';

export interface SessionRequestsProps {
  /** Oldest first, as the API returns it. */
  history: RiskHistory['history'];
  site: string | undefined;
}

export function SessionRequests({ history, site }: SessionRequestsProps) {
  if (history.length === 0) return <p class="soft">No verdict of this session is stored.</p>;
  return (
    <Table
      caption="Requests of the session, newest first"
      rows={history.toReversed()}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Time',
          cell: ({ request_id: id, timestamp }) => (
            <a href={addressOf(`/console/verdicts/${encodeURIComponent(id)}`, { site })} class="nowrap">
              <Time at={timestamp} isBrief />
            </a>
          ),
        },
        { title: 'Decision', cell: ({ decision }) => <DecisionChip decision={decision} /> },
        { title: 'Risk', isNumber: true, cell: ({ risk_score: score }) => score?.toFixed(2) ?? '–' },
        { title: 'Path', isWide: true, cell: ({ request_path: path }) => <VisitorText text={path} maxChars={120} /> },
        { title: 'Source', cell: ({ source }) => source },
        { title: 'Decided by', cell: ({ decided_by: by }) => <VisitorText text={by} maxChars={60} /> },
        {
          title: 'Fired',
          cell: ({ fired_rules: rules }) => <VisitorText text={rules.join(', ')} maxChars={80} />,
        },
      ]}
    />
  );
}
