/** The time window of a view. A moving one stands still until the address changes or a minute has passed. */
import { useLocation } from 'preact-iso/router';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type TimeWindow, windowOf } from './window.ts';

const MINUTE_MS = 60_000;

export function useWindow(): TimeWindow {
  const { query } = useLocation();
  const [minute, setMinute] = useState(() => Math.floor(Date.now() / MINUTE_MS));
  useEffect(() => {
    const timer = setInterval(() => setMinute(Math.floor(Date.now() / MINUTE_MS)), 5000);
    return () => clearInterval(timer);
  }, []);
  const { range, from, to } = query;
  return useMemo(() => windowOf(query, minute * MINUTE_MS), [range, from, to, minute]);
}
