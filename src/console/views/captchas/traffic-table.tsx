/** Captchas of each hour or day, newest first, with what became of them as a bar. Rows of nothing are left out. */
import { type Column, Table } from '../../components/table.tsx';
import { localTime, utcTime } from '../../format/times.ts';
import { count } from '../../format/numbers.ts';
import { countsOf, type Kind, type TrafficRow } from './traffic-row.ts';

type Numbers = TrafficRow['pow'];
const numbers: readonly (readonly [title: string, field: keyof Numbers])[] = [
  ['Issued', 'total'],
  ['Submitted', 'submissions'],
  ['Approved', 'approved'],
  ['Disapproved', 'disapproved'],
  ['No solution', 'pending'],
  ['Verified', 'verifications'],
];

export function TrafficTable({ rows, kind }: { rows: readonly TrafficRow[]; kind: Kind }) {
  const max = Math.max(1, ...rows.map((row) => countsOf(row, kind).total));
  const columns: Column<TrafficRow>[] = [
    { title: 'From', cell: (row) => <Period row={row} /> },
    { title: 'Course', cell: (row) => <Bar {...countsOf(row, kind)} max={max} /> },
    ...numbers.map(([title, field]) => ({
      title,
      isNumber: true,
      cell: (row: TrafficRow) => count(countsOf(row, kind)[field]),
    })),
    ...(kind === 'all'
      ? [{ title: 'Blocked before', isNumber: true, cell: ({ blocked }: TrafficRow) => count(blocked) }]
      : []),
  ];
  return (
    <Table
      caption="Captchas by period, newest first"
      columns={columns}
      rows={rows.filter((row) => countsOf(row, kind).total > 0 || row.blocked > 0).toReversed()}
      keyOf={({ timestamp }) => String(timestamp)}
    />
  );
}

/** A day is one of UTC, so it keeps its date; an hour is shown in the viewer's zone. */
function Period({ row: { timestamp, date, granularity } }: { row: TrafficRow }) {
  return (
    <time dateTime={date} title={utcTime(timestamp)}>
      {granularity === 'day' ? `${date.slice(0, 10)} UTC` : localTime(timestamp)}
    </time>
  );
}

function Bar({ approved, pending, disapproved, max }: Numbers & { max: number }) {
  const width = (part: number) => ({ width: `${(part / max) * 100}%` });
  return (
    <span class="stacked stacked-tall" aria-hidden="true">
      <i class="swatch-allow" style={width(approved)} />
      <i class="swatch-challenge" style={width(pending)} />
      <i class="swatch-block" style={width(disapproved)} />
    </span>
  );
}
