/**
 * What edges counted between two checks. Counters only rise, so each check remembers where a window began. A window over
 * the responses of an origin grows until it has enough of them, so that a quiet one is judged too.
 */
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';

const originMark = z.object({ responses: z.number(), errors: z.number(), since: z.number() });
const marks = z.object({
  /** By name, as below. */
  origins: z.record(z.string(), originMark),
  responses: z.number(),
  requests: z.number(),
  missing: z.number(),
  /** Of `missing`, what was missing at two checks. */
  lost: z.number(),
});
type Marks = z.infer<typeof marks>;

type Counters = Readonly<Record<string, number>>;
interface OriginCounts {
  responses: number;
  errors: number;
}
interface OriginWindow extends OriginCounts {
  /** Empty for the one of the edge's environment. */
  name: string;
  /** Whether there are enough responses to judge by, or a few in half an hour. */
  isWhole: boolean;
}
export interface Window {
  origins: readonly OriginWindow[] | null;
  losses: { lost: number; requests: number } | null;
}

const ENOUGH_RESPONSES = 20;
const WINDOW_MAX_MS = 30 * 60_000;
/** Fewer do not say that an origin is well again. They add up for a day; then it is not judged. */
export const FEW_RESPONSES = 5;
const QUIET_MAX_MS = 24 * 3_600_000;
/** An instance names 20 at a time. Counters of those that it named before stay. */
const NAMED_MAX = 100;
const NAMED_REQUESTS = /^named_origin_requests\{origin="([a-z0-9-]{1,48})"\}$/;

/** `remembered`: what the last check left. Also returns what to remember. */
export function countedWindow(
  counters: Counters,
  missing: number,
  remembered: string | null,
  nowMs: number,
): Window & { remember: string } {
  const counted = originCounts(counters);
  const now: Marks = {
    origins: Object.fromEntries([...counted].map(([name, counts]) => [name, { ...counts, since: nowMs }])),
    responses: sum(counters, 'origin_responses') + (counters['origin_failures'] ?? 0),
    requests: sum(counters, 'requests'),
    missing,
    lost: missing,
  };
  const before = readMarks(remembered);
  // The first check, or a log that was rebuilt: there is nothing to compare with.
  if (before === null || now.requests < before.requests || now.responses < before.responses) {
    return { origins: null, losses: null, remember: JSON.stringify(now) };
  }
  // What is late and arrives after all is missing at one check only.
  now.lost = Math.min(before.missing, missing);
  const known = new Map(Object.entries(before.origins));
  const origins = [...counted].flatMap(([name, counts]): OriginWindow[] => {
    const from = known.get(name) ?? { responses: 0, errors: 0, since: nowMs };
    const responses = Math.max(0, counts.responses - from.responses);
    const ageMs = nowMs - from.since;
    const isWhole = responses >= ENOUGH_RESPONSES || (responses >= FEW_RESPONSES && ageMs >= WINDOW_MAX_MS);
    // Nobody asks it any more: it was renamed, or its policies are gone.
    if (!isWhole && ageMs >= QUIET_MAX_MS) return [];
    if (!isWhole) now.origins[name] = from;
    return [{ name, responses, errors: between(0, counts.errors - from.errors, responses), isWhole }];
  });
  return {
    origins,
    losses: { lost: Math.max(0, now.lost - before.lost), requests: now.requests - before.requests },
    remember: JSON.stringify(now),
  };
}

/**
 * By name. What is not of a named origin is of the environment's own. The two come by different ways, one with the
 * verdicts, so a moment may have more of the named ones than of all.
 */
function originCounts(counters: Counters): Map<string, OriginCounts> {
  const failures = counters['origin_failures'] ?? 0;
  const own = {
    responses: sum(counters, 'origin_responses') + failures,
    errors: (counters['origin_responses{class="5xx"}'] ?? 0) + failures,
  };
  const named = Object.entries(counters)
    .flatMap(([key, responses]) => {
      const name = NAMED_REQUESTS.exec(key)?.[1];
      if (name === undefined) return [];
      const of = (counter: string): number => counters[`${counter}{origin="${name}"}`] ?? 0;
      return [[name, { responses, errors: of('named_origin_failures') + of('named_origin_errors') }] as const];
    })
    .toSorted(([, one], [, other]) => other.responses - one.responses)
    .slice(0, NAMED_MAX);
  for (const [, { responses, errors }] of named) {
    own.responses -= responses;
    own.errors -= errors;
  }
  own.responses = Math.max(0, own.responses);
  own.errors = between(0, own.errors, own.responses);
  return new Map([['', own], ...named]);
}

function sum(counters: Counters, name: string): number {
  return Object.entries(counters).reduce(
    (total, [key, value]) => (key.startsWith(`${name}{`) ? total + value : total),
    0,
  );
}

function between(lowest: number, value: number, highest: number): number {
  return Math.min(Math.max(lowest, value), highest);
}

function readMarks(text: string | null): Marks | null {
  if (text === null) return null;
  const read = marks.safeParse(parseJson(new TextEncoder().encode(text)));
  return read.success ? read.data : null;
}
