/** A moment in the viewer's time zone, with UTC on hover. */
import { localTime, utcTime } from '../format/times.ts';

export function Time({ at }: { at: number | null }) {
  if (at === null) return <span class="soft">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={utcTime(at)}>
      {localTime(at)}
    </time>
  );
}
