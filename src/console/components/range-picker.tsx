/** Which time a view is about. */
import { localTime, zoneName } from '../format/times.ts';
import { ranges, type Range, type TimeWindow, useParams } from '../url/params.ts';
import { Button } from './button.tsx';

const names: Record<Range, string> = { '1h': '1 hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' };

export function RangePicker({ window: { since, until, range } }: { window: TimeWindow }) {
  const [, change] = useParams();
  return (
    <div class="range" role="group" aria-label="Time range">
      {(Object.keys(ranges) as Range[]).map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === range}
          onClick={() => change({ range: name === '24h' ? null : name, from: null, to: null, cursor: null })}
        >
          {names[name]}
        </button>
      ))}
      {range === null && (
        <span class="range-fixed">
          {localTime(since)} – {localTime(until)} ({zoneName()})
          <Button
            isSmall
            kind="quiet"
            label="Back to the last 24 hours"
            onClick={() => change({ from: null, to: null })}
          >
            ×
          </Button>
        </span>
      )}
    </div>
  );
}
