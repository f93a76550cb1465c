/**
 * The score over time as steps, with the thresholds, and each request as a mark where it met the score. The tables below
 * it say the same in words and numbers.
 */
import { TimeSeries, ZoomReset, type Series, type SeriesRow } from '../../components/time-series.tsx';
import { useZoom } from '../../url/params.ts';
import type { RiskHistory } from './session-tables.tsx';

export interface RiskChartProps {
  risk: RiskHistory;
  challengeThreshold: number | null;
  blockThreshold: number | null;
}

type Decision = RiskHistory['history'][number]['decision'];
type Key = 'score' | 'challengeFrom' | 'blockFrom' | Decision;
type Row = SeriesRow<Key>;

const marks: readonly Series<Key>[] = (
  [
    ['allow', 'allowed'],
    ['challenge', 'challenged'],
    ['block', 'blocked'],
  ] as const
).map(([key, name]) => ({ key, name: `request ${name}`, colour: `--series-${key}`, style: 'marks' }));

export function RiskChart({ risk, challengeThreshold, blockThreshold }: RiskChartProps) {
  const events = [...risk.scores, ...risk.history].map(({ timestamp }) => timestamp);
  const first = events.length === 0 ? 0 : Math.min(...events);
  // Room for the last event, which is not at the edge.
  const last = Math.max(...events, first + 1000);
  const end = last + Math.ceil((last - first) / 50) + 1000;
  const zoom = useZoom(first - 1000, end);
  if (events.length === 0) return <p class="soft">This session has no score.</p>;
  const levels = [
    ['challengeFrom', 'challenge', 'challenged from', challengeThreshold],
    ['blockFrom', 'block', 'blocked from', blockThreshold],
  ] as const;
  // A threshold of 1 is never reached.
  const reached = levels.filter(([, , , level]) => level !== null && level < 1);
  const thresholds = Object.fromEntries(reached.map(([key, , , level]) => [key, level]));
  const series: Series<Key>[] = [
    ...reached.map(([key, decision, name, level]): Series<Key> => ({
      key,
      name: `${name} ${level}`,
      colour: `--series-${decision}`,
      style: 'level',
    })),
    { key: 'score', name: 'score', colour: '--go', style: 'steps' },
    ...marks,
  ];
  return (
    <>
      <TimeSeries
        title="Risk score over time, from 0 to 1"
        series={series}
        rows={rowsOf(risk, zoom.since, zoom.until).map((row) => ({ ...row, ...thresholds }))}
        since={zoom.since}
        until={zoom.until}
        bucketSeconds={null}
        max={1}
        read={read}
        onChoose={zoom.choose}
      />
      <ZoomReset zoom={zoom} whole="the whole session" />
    </>
  );
}

/** Scores and requests in order of time. A score holds until the next one, so the window begins and ends with one. */
function rowsOf({ scores, history }: RiskHistory, since: number, until: number): Row[] {
  const changes = scores.map(({ timestamp, risk_score: score }): Row => ({ timestamp, score }));
  const requests = history.map(({ timestamp, decision, risk_score: score }): Row => ({
    timestamp,
    [decision]: score ?? 0,
  }));
  const scoreAt = (ms: number) => changes.findLast(({ timestamp }) => timestamp <= ms)?.score ?? null;
  const ends = [since, until - 1].map((timestamp): Row => ({ timestamp, score: scoreAt(timestamp) }));
  return [...ends, ...changes, ...requests].toSorted((a, b) => a.timestamp - b.timestamp);
}

function read(row: Row): string {
  const met = (['allow', 'challenge', 'block'] as const).find((decision) => row[decision] !== undefined);
  if (met !== undefined) return `a request, decision ${met}, score ${row[met]}`;
  return row.score === null || row.score === undefined ? 'no score yet' : `score ${row.score}`;
}
