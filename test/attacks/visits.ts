/** Visits without a session: how many of many requests got the site's page. */
import type { Stack } from '../../src/cli/stack.ts';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { browse } from '../support/browse.ts';
import { eventually } from '../support/stack.ts';

/** The default `pendingBudget`. */
export const BUDGET = 30;
/** In flight at once. */
const PARALLEL = 25;
/** So many in a row pass once the budget is used up, and not only while an edge waits for the ledger. */
const REFUSED_ROUNDS = 8;
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
  let refusedRounds = 0;
  for (let round = 0; round < ROUNDS_MAX && refusedRounds < REFUSED_ROUNDS; round++) {
    const count = await passed(
      stack,
      many(PARALLEL, (index) => of(round * PARALLEL + index)),
    );
    total += count;
    refusedRounds = count === 0 ? refusedRounds + 1 : 0;
  }
  return total;
}

export function many(count: number, of: (index: number) => Visit): Visit[] {
  return Array.from({ length: count }, (_, index) => of(index));
}

/** Until an edge has its rules, it fails open. */
export async function rulesLoaded({ edgeUrl }: Pick<Stack, 'edgeUrl'>): Promise<void> {
  const health = async () => (await browse(`${edgeUrl}/__protect/health`)).json() as Promise<{ status: string }>;
  await eventually(health, ({ status }) => status === 'ok');
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
