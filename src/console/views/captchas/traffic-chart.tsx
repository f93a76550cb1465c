/** Captchas over time, by what became of them. Dragging chooses a part of the time. */
import { type Series, TimeSeries } from '../../components/time-series.tsx';
import { count } from '../../format/numbers.ts';
import type { TimeWindow } from '../../url/window.ts';
import { countsOf, type Kind, type TrafficRow } from './traffic-row.ts';

type Outcome = 'approved' | 'pending' | 'disapproved';

const series: readonly Series<Outcome>[] = [
  { key: 'approved', name: 'approved', colour: '--series-allow', style: 'bars' },
  { key: 'pending', name: 'without a solution', colour: '--series-challenge', style: 'bars' },
  { key: 'disapproved', name: 'disapproved', colour: '--series-block', style: 'bars' },
];

export interface TrafficChartProps {
  rows: readonly TrafficRow[];
  kind: Kind;
  window: TimeWindow;
  onChoose: (since: number, until: number) => void;
}

export function TrafficChart({ rows, kind, window, onChoose }: TrafficChartProps) {
  const isByDay = rows.some(({ granularity }) => granularity === 'day');
  return (
    <TimeSeries
      title={`Captchas by ${isByDay ? 'day' : 'hour'}`}
      series={series}
      rows={rows.map((row) => {
        const { approved, pending, disapproved } = countsOf(row, kind);
        return { timestamp: row.timestamp, approved, pending, disapproved };
      })}
      since={window.since}
      until={window.until}
      bucketSeconds={isByDay ? 86_400 : 3600}
      read={(row) => series.map(({ key, name }) => `${count(row[key] ?? 0)} ${name}`).join(', ')}
      onChoose={onChoose}
    />
  );
}
