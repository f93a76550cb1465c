/** A part of a chart's time that somebody chose, kept in the address, for charts whose view has no time window. */
import { useParams } from './params.ts';

export interface Zoom {
  /** Epoch milliseconds; `until` is exclusive. */
  since: number;
  until: number;
  isZoomed: boolean;
  choose: (since: number, until: number) => void;
  reset: () => void;
}

export function useZoom(since: number, until: number): Zoom {
  const [{ zoom = '' }, change] = useParams();
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(zoom);
  const [from, to] = [Math.max(since, Number(match?.[1] ?? since)), Math.min(until, Number(match?.[2] ?? until))];
  const isZoomed = match !== null && to > from;
  return {
    since: isZoomed ? from : since,
    until: isZoomed ? to : until,
    isZoomed,
    choose: (chosenFrom, chosenTo) => change({ zoom: `${chosenFrom}-${chosenTo}` }),
    reset: () => change({ zoom: null }),
  };
}
