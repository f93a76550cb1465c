/**
 * When a state becomes an alert: it must be seen for a while before it begins, and be gone for a while before it ends, so
 * that a single bad minute wakes nobody and a flicker is one alert. Pure: what was known and what is seen go in, what is
 * to be known and what happened come out.
 */
export interface HoldTimes {
  /** Seen for so long without a break. 0: at once. */
  beginsAfterMs: number;
  endsAfterMs: number;
}

/** `rising`: seen, and no alert yet. `on`: the alert began. `falling`: no longer seen, and not yet over. */
export interface KnownState {
  phase: 'rising' | 'on' | 'falling';
  /** When this phase began; epoch milliseconds. */
  since: number;
  /** When the alert began; 0 while rising. Part of the ids of both of its alerts. */
  begunAt: number;
}

interface StateChange {
  /** `null`: there is nothing to know any more. */
  next: KnownState | null;
  happened: { phase: 'begins' | 'ends'; begunAt: number } | null;
}

export function stateChange(
  known: KnownState | null,
  isSeen: boolean,
  { beginsAfterMs, endsAfterMs }: HoldTimes,
  nowMs: number,
): StateChange {
  if (known === null || known.phase === 'rising') {
    if (!isSeen) return { next: null, happened: null };
    const since = known?.since ?? nowMs;
    if (nowMs - since < beginsAfterMs) return { next: { phase: 'rising', since, begunAt: 0 }, happened: null };
    return { next: { phase: 'on', since: nowMs, begunAt: nowMs }, happened: { phase: 'begins', begunAt: nowMs } };
  }
  const { begunAt } = known;
  if (isSeen) return { next: known.phase === 'on' ? known : { phase: 'on', since: nowMs, begunAt }, happened: null };
  const since = known.phase === 'falling' ? known.since : nowMs;
  if (nowMs - since < endsAfterMs) return { next: { phase: 'falling', since, begunAt }, happened: null };
  return { next: null, happened: { phase: 'ends', begunAt } };
}
