/** How a chart is drawn: its axes, what each style of series looks like, and what a drag does. */
import uPlot from 'uplot';
import { compact } from '../format/numbers.ts';
import { axisTime } from '../format/times.ts';

export const HEIGHT_PX = 220;
/** A drag of fewer pixels is a click. */
export const DRAG_MIN_PX = 8;

/**
 * `bars` are stacked on each other, in the order of the series. `steps` hold their value until the next one. `marks` are
 * points alone. `level` is a dashed line.
 */
export type SeriesStyle = 'bars' | 'line' | 'steps' | 'marks' | 'level';

export interface Series<Key extends string> {
  key: Key;
  /** In the legend. */
  name: string;
  /** Custom property of the style sheet: `--series-allow`. */
  colour: string;
  style: SeriesStyle;
}

export interface ChartScale {
  /** Epoch milliseconds; `until` is exclusive. */
  since: number;
  until: number;
  bucketSeconds: number | null;
  max: number | undefined;
  unit: string;
}

export function chartOptions(
  box: HTMLElement,
  series: readonly Series<string>[],
  scale: { current: ChartScale },
  onPoint: (index: number | null) => void,
  choose: { current: ((since: number, until: number) => void) | undefined },
): uPlot.Options {
  const styles = getComputedStyle(box);
  const colour = (name: string) => styles.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--soft'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  return {
    width: box.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    // Room for half of the last time.
    padding: [8, 22, 0, 0],
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: DRAG_MIN_PX } },
    scales: {
      x: { time: true, range: () => shownSeconds(scale.current) },
      y: { range: (_, __, max) => [0, scale.current.max ?? Math.max(4, max * 1.05)] },
    },
    axes: [
      {
        ...axis,
        size: 28,
        values: (_, splits) =>
          splits.map((seconds) => axisTime(seconds * 1000, scale.current.until - scale.current.since)),
      },
      { ...axis, size: 56, values: (_, splits) => splits.map((value) => valueLabel(value, scale.current)) },
    ],
    series: [{}, ...series.map((one) => seriesOptions(one.style, colour(one.colour))).toReversed()],
    hooks: {
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width < DRAG_MIN_PX || choose.current === undefined) return;
          const sizeMs = (scale.current.bucketSeconds ?? 1) * 1000;
          const [from, to] = [chart.posToVal(left, 'x') * 1000, chart.posToVal(left + width, 'x') * 1000];
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          choose.current(Math.floor(from / sizeMs) * sizeMs, Math.ceil(to / sizeMs) * sizeMs);
        },
      ],
    },
  };
}

/** The whole window, in whole buckets: a bar has the width of its bucket. */
function shownSeconds({ since, until, bucketSeconds }: ChartScale): [number, number] {
  const size = bucketSeconds ?? 1;
  return [Math.floor(since / 1000 / size) * size, Math.max(since / 1000 + size, Math.ceil(until / 1000 / size) * size)];
}

function valueLabel(value: number, { max, unit }: ChartScale): string {
  if (max === undefined && !Number.isInteger(value)) return '';
  return `${compact(value)}${unit}`;
}

function seriesOptions(style: SeriesStyle, colour: string): uPlot.Series {
  const line = { stroke: colour, width: 2, points: { size: 4 } };
  switch (style) {
    case 'bars': {
      const paths = uPlot.paths.bars?.({ size: [0.9, 40], align: 1 });
      const bar = { fill: colour, stroke: 'transparent', width: 0, points: { show: false } };
      return paths === undefined ? bar : { ...bar, paths };
    }
    case 'line':
      return line;
    case 'steps': {
      const paths = uPlot.paths.stepped?.({ align: 1 });
      const steps = { ...line, points: { show: false }, spanGaps: true };
      return paths === undefined ? steps : { ...steps, paths };
    }
    case 'marks':
      return { stroke: colour, fill: colour, paths: () => null, points: { show: true, size: 8, fill: colour } };
    case 'level':
      return { stroke: colour, width: 1, dash: [4, 5], points: { show: false }, spanGaps: true };
  }
}
