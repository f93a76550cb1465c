/** What the protect script reported, newest first: counts and times, no content. */
import { Chip } from '../../components/chip.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { count } from '../../format/numbers.ts';
import type { SessionTelemetry } from './session-data.ts';

type Row = SessionTelemetry['telemetry'][number];

/** Field of a report → heading. A field that a newer script adds is in the API's answer. */
const counts = [
  ['pointerMoves', 'Moves'],
  ['presses', 'Presses'],
  ['touches', 'Touches'],
  ['leaps', 'Leaps'],
  ['keys', 'Keys'],
  ['wheels', 'Wheel'],
  ['scrolls', 'Scrolls'],
  ['untrusted', 'By script'],
] as const;

export function TelemetryTable({ telemetry }: { telemetry: SessionTelemetry['telemetry'] }) {
  if (telemetry.length === 0) return <p class="soft">No page of this session has reported.</p>;
  return (
    <Table
      caption="Reports of the session's pages, newest first"
      rows={telemetry.toReversed()}
      keyOf={(row) => `${row.timestamp} ${JSON.stringify(row.report)}`}
      columns={[
        { title: 'Time', cell: ({ timestamp }) => <Time at={timestamp} isBrief /> },
        { title: 'Page open', isNumber: true, cell: (row) => seconds(row, 'elapsedMs') },
        { title: 'Visible', isNumber: true, cell: (row) => seconds(row, 'visibleMs') },
        { title: 'First touch', isNumber: true, cell: (row) => seconds(row, 'firstInteractionMs') },
        ...counts.map(([field, title]) => ({
          title,
          isNumber: true,
          cell: (row: Row) => {
            const value = numberIn(row, field);
            return value === null ? '–' : count(value);
          },
        })),
        { title: 'Traits', isWide: true, isWrapped: true, cell: (row) => <Traits row={row} /> },
      ]}
    />
  );
}

function Traits({ row }: { row: Row }) {
  const { traits } = fields(row);
  if (!Array.isArray(traits) || traits.length === 0) return <span class="soft">none</span>;
  return (
    <span class="chips">
      {traits.map((trait) => (
        <Chip key={String(trait)} tone="warn">
          <VisitorText text={String(trait)} maxChars={60} />
        </Chip>
      ))}
    </span>
  );
}

/** A report is what a page sent, whatever the document says. */
function fields({ report }: Row): Record<string, unknown> {
  return typeof report === 'object' && report !== null ? (report as Record<string, unknown>) : {};
}

function numberIn(row: Row, field: string): number | null {
  const value = fields(row)[field];
  return typeof value === 'number' ? value : null;
}

function seconds(row: Row, field: string): string {
  const value = numberIn(row, field);
  return value === null ? '–' : `${(value / 1000).toFixed(1)} s`;
}
