/** A moment in the viewer's time zone, with UTC on hover. */
import { briefTime, localTime, utcTime } from '../format/times.ts';

/** @param isBrief in a table: no more than tells it from now, the whole of it on hover. */
export function Time({ at, isBrief = false }: { at: number | null; isBrief?: boolean }) {
  if (at === null) return <span class="soft">–</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={isBrief ? `${localTime(at)}, ${utcTime(at)}` : utcTime(at)}>
      {isBrief ? briefTime(at, Date.now()) : localTime(at)}
    </time>
  );
}
