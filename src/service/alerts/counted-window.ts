/**
 * What edges counted between two checks. Counters only rise, so each check remembers where a window began. A window over
 * the origin's responses grows until it has enough of them, so that a quiet site is judged too.
 */
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';

const marks = z.object({
  originResponses: z.number(),
  originErrors: z.number(),
  originSince: z.number(),
  requests: z.number(),
  missing: z.number(),
  /** Of `missing`, what was missing at two checks. */
  lost: z.number(),
});
type Marks = z.infer<typeof marks>;

export interface Window {
  origin: { responses: number; errors: number } | null;
  losses: { lost: number; requests: number } | null;
}

const ENOUGH_RESPONSES = 20;
const WINDOW_MAX_MS = 30 * 60_000;

/** `remembered`: what the last check left. Also returns what to remember. */
export function countedWindow(
  counters: Readonly<Record<string, number>>,
  missing: number,
  remembered: string | null,
  nowMs: number,
): Window & { remember: string } {
  const sum = (name: string): number =>
    Object.entries(counters).reduce((total, [key, value]) => (key.startsWith(`${name}{`) ? total + value : total), 0);
  const failures = counters['origin_failures'] ?? 0;
  const now: Marks = {
    originResponses: sum('origin_responses') + failures,
    originErrors: (counters['origin_responses{class="5xx"}'] ?? 0) + failures,
    originSince: nowMs,
    requests: sum('requests'),
    missing,
    lost: missing,
  };
  const before = readMarks(remembered);
  // The first check, or a log that was rebuilt: there is nothing to compare with.
  if (before === null || now.requests < before.requests || now.originResponses < before.originResponses) {
    return { origin: null, losses: null, remember: JSON.stringify(now) };
  }
  // What is late and arrives after all is missing at one check only.
  now.lost = Math.min(before.missing, missing);
  const responses = now.originResponses - before.originResponses;
  const errors = now.originErrors - before.originErrors;
  const isWhole = responses >= ENOUGH_RESPONSES || nowMs - before.originSince >= WINDOW_MAX_MS;
  const { originResponses, originErrors, originSince } = before;
  return {
    origin: isWhole ? { responses, errors } : null,
    losses: { lost: Math.max(0, now.lost - before.lost), requests: now.requests - before.requests },
    remember: JSON.stringify(isWhole ? now : { ...now, originResponses, originErrors, originSince }),
  };
}

function readMarks(text: string | null): Marks | null {
  const read = marks.safeParse(parseJson(text));
  return read.success ? read.data : null;
}
