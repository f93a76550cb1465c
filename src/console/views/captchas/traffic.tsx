/** Captchas by the hour or the day: the numbers of a row, their course, and a table. */
import { Table, type TableColumn } from '../../components/table.tsx';
import { localTime, utcTime } from '../../format/times.ts';
import { StackedBar } from '../overview/top-list.tsx';
import { count } from '../../format/numbers.ts';
import type { Schema } from '../../api/service-api.ts';
import { type Series, WindowSeries } from '../../components/time-series.tsx';
import type { TimeWindow } from '../../url/params.ts';

type Numbers = TrafficRow['pow'];
const numbers: readonly (readonly [title: string, field: keyof Numbers])[] = [
  ['Issued', 'total'],
  ['Submitted', 'submissions'],
  ['Approved', 'approved'],
  ['Disapproved', 'disapproved'],
  ['No solution', 'pending'],
  ['Verified', 'verifications'],
];

/** Captchas of each hour or day, newest first, with what became of them as a bar. Rows of nothing are left out. */
export function TrafficTable({ rows, kind }: { rows: readonly TrafficRow[]; kind: CaptchaKind }) {
  const max = Math.max(1, ...rows.map((row) => countsOf(row, kind).total));
  const columns: TableColumn<TrafficRow>[] = [
    { title: 'From', cell: (row) => <Period row={row} /> },
    { title: 'Course', cell: (row) => <CaptchaBar {...countsOf(row, kind)} max={max} /> },
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

function CaptchaBar({ approved, pending, disapproved, max }: Numbers & { max: number }) {
  return <StackedBar allow={approved} challenge={pending} block={disapproved} max={max} isTall />;
}

export type TrafficRow = Schema<'TrafficRow'>;
export const kinds = ['all', 'pow', 'image', 'puzzle'] as const;
export type CaptchaKind = (typeof kinds)[number];

/** Those of every kind are in the row itself. */
export function countsOf(row: TrafficRow, kind: CaptchaKind): Schema<'CaptchaCounts'> {
  return kind === 'all' ? row : row[kind];
}

type Outcome = 'approved' | 'pending' | 'disapproved';

const series: readonly Series<Outcome>[] = [
  { key: 'approved', name: 'approved', colour: '--series-allow', style: 'bars' },
  { key: 'pending', name: 'without a solution', colour: '--series-challenge', style: 'bars' },
  { key: 'disapproved', name: 'disapproved', colour: '--series-block', style: 'bars' },
];

export interface TrafficChartProps {
  rows: readonly TrafficRow[];
  kind: CaptchaKind;
  window: TimeWindow;
}

/** Captchas over time, by what became of them. */
export function TrafficChart({ rows, kind, window }: TrafficChartProps) {
  const isByDay = rows.some(({ granularity }) => granularity === 'day');
  const buckets = rows.map((row) => {
    const { approved, pending, disapproved } = countsOf(row, kind);
    return { timestamp: row.timestamp, approved, pending, disapproved };
  });
  return (
    <WindowSeries
      title={`Captchas by ${isByDay ? 'day' : 'hour'}`}
      series={series}
      window={window}
      value={{ ...window, bucketSeconds: isByDay ? 86_400 : 3600, buckets }}
      read={(row) => series.map(({ key, name }) => `${count(row[key] ?? 0)} ${name}`).join(', ')}
    />
  );
}
