/** How long the origin took to respond, as the edges measured it, over time. */
import { useCall } from '../../api/call.ts';
import { Facts, Load, Section } from '../../components/page.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { type Series, type SeriesRow, WindowSeries } from '../../components/time-series.tsx';
import { count } from '../../format/numbers.ts';
import type { Instance } from '../../frame/instances.ts';
import { bucketSecondsOf, type TimeWindow } from '../../url/params.ts';

type Percentile = 'p50' | 'p95' | 'p99';

const series: readonly Series<Percentile>[] = [
  { key: 'p50', name: 'half is faster (p50)', colour: '--series-allow', style: 'line' },
  { key: 'p95', name: '95 of 100 are faster (p95)', colour: '--series-challenge', style: 'line' },
  { key: 'p99', name: '99 of 100 are faster (p99)', colour: '--series-block', style: 'line' },
];

export function Latency({ instance, window }: { instance: Instance; window: TimeWindow }) {
  const { since, until } = window;
  const bucket = bucketSecondsOf(window);
  const loaded = useCall('/protect/origin-latency', { siteKey: instance.globalSiteKey, since, until, bucket });
  const { value } = loaded;
  const requests = new Map(value?.buckets.map((one) => [one.timestamp, one.requests]));
  const read = (row: SeriesRow<Percentile>): string => {
    const counted = requests.get(row.timestamp) ?? 0;
    if (counted === 0) return 'no responses of the origin';
    return `p50 ${ms(row.p50)}, p95 ${ms(row.p95)}, p99 ${ms(row.p99)}, of ${count(counted)} ${counted === 1 ? 'response' : 'responses'}`;
  };
  return (
    <Section title="Response time of the origin" actions={<RangePicker window={window} />}>
      <Load of={loaded} />
      <div class="stack">
        <Facts
          facts={[
            ['Responses', value === null ? '–' : count(value.requests)],
            ['p50', ms(value?.p50)],
            ['p95', ms(value?.p95)],
            ['p99', ms(value?.p99)],
          ]}
        />
        <WindowSeries
          title="Response time of the origin over time, in milliseconds"
          series={series}
          window={window}
          value={value}
          read={read}
          unit=" ms"
        />
        <p class="hint">
          From the edge's request until the origin's response begins. Every response counts. Values above 32 ms are at
          most a sixteenth too high. The edge's own time is not in it.
        </p>
      </div>
    </Section>
  );
}

function ms(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : `${count(value)} ms`;
}
