/**
 * The state of a view, kept in the address, so that everyone who opens the address sees the same view. A parameter with its default
 * is left out.
 */
import { useLocation } from 'preact-iso/router';
import { useEffect, useMemo, useState } from 'preact/hooks';

export type Params = Readonly<Record<string, string>>;

/** The current parameters, and a function that changes some of them (`null` or `''` removes one). */
export function useParams(): [Params, (change: Readonly<Record<string, string | null>>, replace?: boolean) => void] {
  const { path, query, route } = useLocation();
  const change = (changes: Readonly<Record<string, string | null>>, replace = false): void => {
    route(addressOf(path, { ...query, ...changes }), replace);
  };
  return [query, change];
}

export function addressOf(path: string, params: Readonly<Record<string, string | null | undefined>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== null && value !== undefined && value !== '') search.set(name, value);
  }
  const text = search.toString();
  return text === '' ? path : `${path}?${text}`;
}

export const ranges = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000, '30d': 2_592_000_000 } as const;
export type Range = keyof typeof ranges;

/**
 * The time window of a view, from its address: `range=24h` moves with the clock, `from` and `to` (epoch milliseconds)
 * do not.
 */
export interface TimeWindow {
  /** Epoch milliseconds; `until` is exclusive. */
  since: number;
  until: number;
  /** `null`: fixed by `from` and `to`. */
  range: Range | null;
}
const MINUTE_MS = 60_000;
const YEAR_MS = 366 * 86_400_000;

export function viewWindow(params: Params, nowMs: number): TimeWindow {
  const [from, to] = [Number(params['from']), Number(params['to'])];
  if (Number.isSafeInteger(from) && Number.isSafeInteger(to) && from > 0 && to > from && to - from <= YEAR_MS) {
    return { since: from, until: to, range: null };
  }
  const named = params['range'] ?? '24h';
  const range = Object.hasOwn(ranges, named) ? (named as Range) : '24h';
  // Whole minutes, so that two calls of one view are about the same window.
  const until = Math.ceil((nowMs + 1) / MINUTE_MS) * MINUTE_MS;
  return { since: until - ranges[range], until, range };
}

/** Seconds per bucket for some hundred points: a whole number of minutes. */
export function bucketSecondsOf({ since, until }: TimeWindow): number {
  const spanMs = until - since;
  if (spanMs <= ranges['1h'] * 3) return 60;
  if (spanMs <= ranges['24h'] * 1.5) return 900;
  return spanMs <= ranges['7d'] * 1.5 ? 3600 : 6 * 3600;
}

/** The time window of a view. A moving one stands still until the address changes or a minute has passed. */
export function useWindow(): TimeWindow {
  const { query } = useLocation();
  const [minute, setMinute] = useState(() => Math.floor(Date.now() / MINUTE_MS));
  useEffect(() => {
    const timer = setInterval(() => setMinute(Math.floor(Date.now() / MINUTE_MS)), 5000);
    return () => clearInterval(timer);
  }, []);
  const { range, from, to } = query;
  return useMemo(() => viewWindow(query, minute * MINUTE_MS), [range, from, to, minute]);
}

export interface Zoom {
  /** Epoch milliseconds; `until` is exclusive. */
  since: number;
  until: number;
  isZoomed: boolean;
  choose: (since: number, until: number) => void;
  reset: () => void;
}

/** A part of a chart's time that somebody chose, kept in the address, for charts whose view has no time window. */
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
