/**
 * Numbers over time. Dragging over the chart chooses a part of the time. What the pointer is at, or the arrow keys, is
 * written below the chart, in room that is always there. `chart-options.ts` says how it is drawn.
 */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { localTime, zoneName } from '../format/times.ts';
import { HEIGHT_PX, chartOptions, type ChartScale, type Series } from './chart-options.ts';
import { bucketSecondsOf, type TimeWindow, useParams, type Zoom } from '../url/params.ts';
import { Button } from './button.tsx';
import { count, counted } from '../format/numbers.ts';

export type { Series } from './chart-options.ts';

/** `timestamp`: epoch milliseconds, of a bucket its start. */
export type SeriesRow<Key extends string> = { timestamp: number } & Partial<Readonly<Record<Key, number | null>>>;

export interface TimeSeriesProps<Key extends string> {
  title: string;
  series: readonly Series<Key>[];
  /** In order of time. Buckets without a row count as zero, or as a gap where nothing is stacked. */
  rows: readonly SeriesRow<Key>[];
  /** Epoch milliseconds; `until` is exclusive. */
  since: number;
  until: number;
  /** `null`: rows are events, at any time. */
  bucketSeconds: number | null;
  /** A row as a sentence, without its time. */
  read: (row: SeriesRow<Key>) => string;
  /** Values are at most this; otherwise the chart grows with them. */
  max?: number;
  /** After the numbers of the axis. */
  unit?: string;
  /** A part of the time was chosen, in whole buckets. */
  onChoose?: (since: number, until: number) => void;
}

export function TimeSeries<Key extends string>(props: TimeSeriesProps<Key>) {
  const { title, series, since, until, bucketSeconds, read, max, unit = '', onChoose } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  const scale = useRef<ChartScale>({ since, until, bucketSeconds, max, unit });
  scale.current = { since, until, bucketSeconds, max, unit };
  const [at, setAt] = useState<number | null>(null);
  const [theme, setTheme] = useState(0);
  const captionId = useId();
  const rows = rowsShown(props);
  const styles = series.map(({ key, style }) => `${key} ${style}`).join();

  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => setTheme((former) => former + 1);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);

  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    const chart = new uPlot(chartOptions(current, series, scale, setAt, choose), dataOf(series, rows), current);
    plot.current = chart;
    const resize = new ResizeObserver(() => chart.setSize({ width: current.clientWidth, height: HEIGHT_PX }));
    resize.observe(current);
    return () => {
      resize.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, [theme, bucketSeconds, styles]);

  useEffect(() => plot.current?.setData(dataOf(series, rows)), [JSON.stringify(props.rows), since, until]);

  const shown = at === null ? undefined : rows[at];
  const move = (step: number) => setAt(Math.max(0, Math.min(rows.length - 1, (at ?? rows.length) + step)));
  const idle = `Times are in ${zoneName()}.${onChoose === undefined ? '' : ' Drag over the chart to look closer.'}`;
  return (
    <figure class="chart-figure" aria-labelledby={captionId}>
      <figcaption id={captionId} class="unseen">
        {title}
      </figcaption>
      <div
        ref={box}
        class="chart"
        tabIndex={0}
        role="img"
        aria-label={`${title}. Use the arrow keys to read the numbers.`}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') move(-1);
          else if (event.key === 'ArrowRight') move(1);
          else return;
          event.preventDefault();
        }}
      />
      <p class="chart-reading" role="status">
        {shown === undefined ? idle : `${localTime(shown.timestamp)}: ${read(shown)}`}
      </p>
      <p class="legend">
        {series.map(({ key, name, colour }) => (
          <span key={key}>
            <i style={{ background: `var(${colour})` }} />
            {name}
          </span>
        ))}
      </p>
    </figure>
  );
}

/** Events as they are; else one row per bucket of the window. */
function rowsShown<Key extends string>({ rows, since, until, bucketSeconds }: TimeSeriesProps<Key>): SeriesRow<Key>[] {
  if (bucketSeconds === null) return rows.filter(({ timestamp }) => timestamp >= since && timestamp < until);
  const sizeMs = bucketSeconds * 1000;
  const byTime = new Map(rows.map((row) => [row.timestamp, row]));
  const shown: SeriesRow<Key>[] = [];
  for (let timestamp = Math.floor(since / sizeMs) * sizeMs; timestamp < until; timestamp += sizeMs) {
    shown.push(byTime.get(timestamp) ?? ({ timestamp } as SeriesRow<Key>));
  }
  return shown;
}

/** Bars are sums from the bottom; the highest sum is drawn first, the lower ones over it. */
function dataOf<Key extends string>(
  series: readonly Series<Key>[],
  rows: readonly SeriesRow<Key>[],
): uPlot.AlignedData {
  const value = (row: SeriesRow<Key>, key: Key): number | null | undefined => row[key];
  const bars = series.filter(({ style }) => style === 'bars').map(({ key }) => key);
  return [
    rows.map(({ timestamp }) => timestamp / 1000),
    ...series
      .map(({ key, style }) =>
        rows.map((row) =>
          style === 'bars'
            ? bars.slice(0, bars.indexOf(key) + 1).reduce((sum, lower) => sum + (value(row, lower) ?? 0), 0)
            : (value(row, key) ?? null),
        ),
      )
      .toReversed(),
  ];
}

/** @param whole what the chart shows again, such as “the whole hour”. */
export function ZoomReset({ zoom, whole }: { zoom: Zoom; whole: string }) {
  if (!zoom.isZoomed) return null;
  return (
    <div class="actions">
      <Button isSmall onClick={zoom.reset}>
        Show {whole}
      </Button>
    </div>
  );
}

type Decision = 'allow' | 'challenge' | 'block';

const byDecision: readonly Series<Decision>[] = [
  { key: 'allow', name: 'allowed', colour: '--series-allow', style: 'bars' },
  { key: 'challenge', name: 'challenged', colour: '--series-challenge', style: 'bars' },
  { key: 'block', name: 'blocked', colour: '--series-block', style: 'bars' },
];

function decisionsInWords(row: SeriesRow<Decision>): string {
  const parts = byDecision.map(({ key, name }) => ({ name, value: row[key] ?? 0 }));
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  return `${counted(total, 'request')}, ${parts.map(({ name, value }) => `${count(value)} ${name}`).join(', ')}`;
}

/** What the service has answered about a time; `null`: nothing yet. */
type Answered<Key extends string> = {
  since: number;
  until: number;
  bucketSeconds: number;
  buckets: readonly SeriesRow<Key>[];
} | null;

export interface WindowSeriesProps<Key extends string> extends Omit<
  TimeSeriesProps<Key>,
  'rows' | 'since' | 'until' | 'bucketSeconds' | 'onChoose'
> {
  window: TimeWindow;
  value: Answered<Key>;
}

/** Numbers over the time window of the view. The part that is chosen becomes the window. */
export function WindowSeries<Key extends string>({ window, value, ...shown }: WindowSeriesProps<Key>) {
  const [, change] = useParams();
  return (
    <TimeSeries
      {...shown}
      rows={value?.buckets ?? []}
      since={value?.since ?? window.since}
      until={value?.until ?? window.until}
      bucketSeconds={value?.bucketSeconds ?? bucketSecondsOf(window)}
      onChoose={(from, to) => change({ from: String(from), to: String(to), range: null })}
    />
  );
}

/** Requests by decision, as every chart of them shows it. */
export function DecisionSeries(props: { title: string; window: TimeWindow; value: Answered<Decision> }) {
  return <WindowSeries {...props} series={byDecision} read={decisionsInWords} />;
}
