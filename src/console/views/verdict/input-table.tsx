/** The decision table of the request: the seven inputs in their order, what each said, and what became of it. */
import type { Schema } from '../../api/service-api.ts';
import { Chip, DecisionChip } from '../../components/chip.tsx';
import { Table } from '../../components/table.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';

type Explanation = Schema<'VerdictExplanation'>;
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
    <span class="chips">
      score {score.toFixed(2)}
      {parts.map(({ detector, weight }) => (
        <Chip key={detector}>
          {detector} +{weight}
        </Chip>
      ))}
    </span>
  );
}
