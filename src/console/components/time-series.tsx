/**
 * Counts by decision over time, stacked. Dragging over the chart chooses a part of the time. What the pointer is at, or
 * the arrow keys, is written below the chart, in room that is always there.
 */
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { compact, count } from '../format/numbers.ts';
import { localClock, localDay, localTime, zoneName } from '../format/times.ts';

export interface SeriesPoint {
  /** Epoch milliseconds of the start of the bucket. */
  timestamp: number;
  allow: number;
  challenge: number;
  block: number;
}

export interface TimeSeriesProps {
  title: string;
  /** Buckets with traffic. The others count as zero. */
  points: readonly SeriesPoint[];
  /** Epoch milliseconds; `until` is exclusive. */
  since: number;
  until: number;
  bucketSeconds: number;
  /** A part of the time was chosen, in whole buckets. */
  onChoose?: (since: number, until: number) => void;
}

const stack = ['allow', 'challenge', 'block'] as const;
const names = { allow: 'allowed', challenge: 'challenged', block: 'blocked' } as const;
const HEIGHT_PX = 220;
/** A drag of fewer pixels is a click. */
const DRAG_MIN_PX = 8;

export function TimeSeries(props: TimeSeriesProps) {
  const { title, since, until, bucketSeconds, onChoose } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  const [at, setAt] = useState<number | null>(null);
  const [theme, setTheme] = useState(0);
  const captionId = useId();
  const rows = bucketsOf(props);

  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => setTheme((former) => former + 1);
    query.addEventListener('change', onChange);
    return () => query.removeEventListener('change', onChange);
  }, []);

  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    const chart = new uPlot(optionsFor(current, bucketSeconds, setAt, choose), stacked(rows), current);
    plot.current = chart;
    const resize = new ResizeObserver(() => chart.setSize({ width: current.clientWidth, height: HEIGHT_PX }));
    resize.observe(current);
    return () => {
      resize.disconnect();
      chart.destroy();
      plot.current = null;
    };
  }, [theme, bucketSeconds]);

  useEffect(() => plot.current?.setData(stacked(rows)), [JSON.stringify(props.points), since, until]);

  const shown = at === null ? null : rows[at];
  const move = (step: number) => setAt(Math.max(0, Math.min(rows.length - 1, (at ?? rows.length) + step)));
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
        {shown === undefined || shown === null
          ? `Times are in ${zoneName()}.${onChoose === undefined ? '' : ' Drag over the chart to look closer.'}`
          : `${localTime(shown.timestamp)}: ${count(shown.allow + shown.challenge + shown.block)} requests, ${stack
              .map((name) => `${count(shown[name])} ${names[name]}`)
              .join(', ')}`}
      </p>
      <p class="legend">
        {stack.map((name) => (
          <span key={name}>
            <i class={`swatch-${name}`} />
            {names[name]}
          </span>
        ))}
      </p>
    </figure>
  );
}

/** One row per bucket of the window, with zeros where nothing was. */
function bucketsOf({ points, since, until, bucketSeconds }: TimeSeriesProps): SeriesPoint[] {
  const sizeMs = bucketSeconds * 1000;
  const byTime = new Map(points.map((point) => [point.timestamp, point]));
  const rows: SeriesPoint[] = [];
  for (let timestamp = Math.floor(since / sizeMs) * sizeMs; timestamp < until; timestamp += sizeMs) {
    rows.push(byTime.get(timestamp) ?? { timestamp, allow: 0, challenge: 0, block: 0 });
  }
  return rows;
}

/** Sums from the bottom; the highest sum is drawn first, the lower ones over it. */
function stacked(rows: readonly SeriesPoint[]): uPlot.AlignedData {
  return [
    rows.map(({ timestamp }) => timestamp / 1000),
    rows.map(({ allow, challenge, block }) => allow + challenge + block),
    rows.map(({ allow, challenge }) => allow + challenge),
    rows.map(({ allow }) => allow),
  ];
}

function optionsFor(
  box: HTMLElement,
  bucketSeconds: number,
  onPoint: (index: number | null) => void,
  choose: { current: ((since: number, until: number) => void) | undefined },
): uPlot.Options {
  const styles = getComputedStyle(box);
  const colour = (name: string) => styles.getPropertyValue(name).trim();
  const bars = uPlot.paths.bars?.({ size: [0.9, 40], align: 1 });
  const series = (name: string): uPlot.Series => ({
    fill: colour(`--series-${name}`),
    stroke: 'transparent',
    width: 0,
    points: { show: false },
    ...(bars === undefined ? {} : { paths: bars }),
  });
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  const isLong = bucketSeconds >= 3600;
  return {
    width: box.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: DRAG_MIN_PX } },
    scales: {
      x: { time: true, range: (_, min, max) => [min, max + bucketSeconds] },
      y: { range: (_, __, max) => [0, Math.max(4, max * 1.05)] },
    },
    axes: [
      { ...axis, values: (_, splits) => splits.map((s) => (isLong ? localDay(s * 1000) : localClock(s * 1000))) },
      {
        ...axis,
        size: 52,
        values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? compact(value) : '')),
      },
    ],
    series: [{}, series('block'), series('challenge'), series('allow')],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width < DRAG_MIN_PX || choose.current === undefined) return;
          const sizeMs = bucketSeconds * 1000;
          const [from, to] = [chart.posToVal(left, 'x') * 1000, chart.posToVal(left + width, 'x') * 1000];
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          choose.current(Math.floor(from / sizeMs) * sizeMs, Math.ceil(to / sizeMs) * sizeMs);
        },
      ],
    },
  };
}
