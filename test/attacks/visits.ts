/** Visits without a session: how many of many requests got the site's page. */
import type { Stack } from '../../src/cli/stack.ts';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { browse } from '../support/browse.ts';
import { eventually } from '../support/stack.ts';

/** The default `pendingBudget`. */
export const BUDGET = 30;
/** Pages that each address has beside it, in each edge. */
export const RESERVE = 2;
/** What an edge gives a network before the ledger has heard of it. */
const UNCONFIRMED = BUDGET / 6;
/** In flight at once. */
const PARALLEL = 25;
const ROUNDS_MAX = 300;

export interface Visit {
  from: string;
  path?: string;
  method?: string;
  /** Instead of those of a browser's navigation; `null` leaves one out. */
  headers?: Record<string, string | null>;
  /** Another edge of the same instance. */
  edgeUrl?: string;
}

interface Visited {
  status: number;
  decision: string | null;
  id: string;
  text: string;
}

export async function visit(
  stack: Stack,
  { from, path = '/', method = 'GET', headers, edgeUrl = stack.edgeUrl }: Visit,
): Promise<Visited> {
  const response = await browse(edgeUrl + path, { method, headers: { ...signalsOf(stack, { from }), ...headers } });
  return {
    status: response.status,
    decision: response.headers.get('x-protect-decision'),
    id: response.headers.get('x-protect-request-id') ?? '',
    text: await response.text(),
  };
}

/** Number of visits that got a 200. */
export async function passed(stack: Stack, visits: readonly Visit[]): Promise<number> {
  let count = 0;
  const waiting = [...visits];
  const send = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if ((await visit(stack, next)).status === 200) count++;
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, send));
  return count;
}

/** Sends visits until the budget is used up. Returns how many of them passed. */
export async function exhaust(stack: Stack, of: (index: number) => Visit): Promise<number> {
  let total = 0;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const visits = many(PARALLEL, (index) => of(round * PARALLEL + index));
    const count = await passed(stack, visits);
    // None of a round that began when the edges knew of all before it: there is no budget left.
    if (count === 0 && round > 0) return total;
    total += count;
    for (const edgeUrl of new Set(visits.map((sent) => sent.edgeUrl ?? stack.edgeUrl))) await settled(stack, edgeUrl);
  }
  throw new Error(`${ROUNDS_MAX} rounds did not use the budget up: ${total} passed`);
}

let newcomers = 0;

/**
 * Waits until an edge knows the ledger's sums for all that it has counted so far. An edge reports in the order of its
 * counts and lets a network take no more than a sixth of its budget meanwhile. So when a newcomer gets one page more, the
 * edge has heard of everything before them. Their reserve comes first.
 */
async function settled(stack: Stack, edgeUrl: string): Promise<void> {
  newcomers += 1;
  const newcomer = { from: `2001:db8:${(0xf000 + newcomers).toString(16)}::1`, edgeUrl };
  for (let page = 0; page <= RESERVE + UNCONFIRMED; page++) {
    await eventually(
      () => visit(stack, newcomer),
      ({ status }) => status === 200,
    );
  }
}

export function many(count: number, of: (index: number) => Visit): Visit[] {
  return Array.from({ length: count }, (_, index) => of(index));
}

const nothing = {
  accept: '*/*',
  'accept-language': null,
  'accept-encoding': null,
  'upgrade-insecure-requests': null,
  'sec-fetch-dest': null,
  'sec-fetch-mode': null,
  'sec-fetch-site': null,
  'sec-fetch-user': null,
};
export const asCurl = { ...nothing, 'user-agent': 'curl/8.5.0' };
/** A browser's name and a language, and nothing else. */
export const byName = (userAgent: string) => ({ ...nothing, 'user-agent': userAgent, 'accept-language': 'en-US' });
