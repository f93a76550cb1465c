/** The decision in sentences: what decided, what changed it afterwards, and what would have happened without it. */
import type { Schema } from '../../api/service-api.ts';
import { DetectorList } from '../../components/detector-list.tsx';
import { DecisionChip, VisitorText } from '../../components/values.tsx';
import { Table } from '../../components/table.tsx';

type Explanation = Schema<'VerdictExplanation'>;

const policies = {
  enforce: '',
  monitor: 'The instance is in monitor mode: the request was forwarded all the same.',
  'rollout-excluded': 'The visitor is outside the rollout: the request was forwarded all the same.',
} as const;

export function DecisionText({ explanation }: { explanation: Explanation }) {
  const { verdict, headline, without, isExact } = explanation;
  return (
    <div class="stack">
      <p class="decision">
        <DecisionChip decision={verdict.decision} /> <VisitorText text={headline} />
      </p>
      {policies[verdict.enforcement_policy] !== '' && <p>{policies[verdict.enforcement_policy]}</p>}
      {without !== null && (
        <p>
          Without <VisitorText text={without.by} maxChars={80} />: <DecisionChip decision={without.decision} />, by{' '}
          <VisitorText text={without.decidedBy} maxChars={80} />.
        </p>
      )}
      <p class="hint">
        In the words of the log: <VisitorText text={verdict.explain} />
      </p>
      {!isExact && (
        <p class="hint">
          The record does not have everything that was decided from: an older edge wrote it, or more rules fired than it
          holds.
        </p>
      )}
    </div>
  );
}

type Row = Explanation['table'][number];

const names: Record<Row['input'], string> = {
  network: 'Network rule',
  client: 'Client rule',
  bot: 'Bot policy',
  category: 'Address category',
  risk: 'Risk score',
  limit: 'Limit',
  policy: 'Policy',
};

export interface InputTableProps {
  table: Explanation['table'];
  riskParts: Explanation['riskParts'];
  score: number | null;
}

/** The decision table of the request: the seven inputs in their order, what each said, and what became of it. */
export function InputTable({ table, riskParts, score }: InputTableProps) {
  if (table.length === 0) return <p class="soft">No input was asked for this request.</p>;
  return (
    <Table
      caption="What each input said, in the order of the decision table"
      rows={table}
      keyOf={({ input }) => input}
      isCurrent={({ outcome }) => outcome === 'decided'}
      columns={[
        { title: 'Input', cell: ({ input }) => names[input] },
        {
          title: 'Said',
          cell: ({ verdict }) =>
            verdict === null ? <span class="soft">nothing</span> : <DecisionChip decision={verdict} />,
        },
        { title: 'By', cell: ({ by }) => <VisitorText text={by} maxChars={80} /> },
        { title: 'Outcome', cell: (row) => <Outcome row={row} /> },
        {
          title: 'Made of',
          isWide: true,
          isWrapped: true,
          cell: ({ input }) => (input === 'risk' && score !== null ? <Parts score={score} parts={riskParts} /> : null),
        },
      ]}
    />
  );
}

function Outcome({ row: { outcome, liftedBy } }: { row: Row }) {
  if (outcome === 'decided') return <b>decided</b>;
  if (outcome === 'lifted') return <>lifted by the {names[liftedBy ?? 'network'].toLowerCase()}</>;
  return outcome === 'overruled' ? <>overruled by a stricter or earlier one</> : <span class="soft">–</span>;
}

function Parts({ score, parts }: { score: number; parts: Explanation['riskParts'] }) {
  return (
    <DetectorList parts={parts}>
      <li>
        Together <b>{score.toFixed(2)}</b>
      </li>
    </DetectorList>
  );
}
