/**
 * Visits that the views of the console show: a request that a rule blocks, whose user agent has markup, and a session
 * whose page reported what no page can.
 */
import type { Stack } from '../../src/cli/stack.ts';
import { browse } from './browse.ts';
import { sessionCookieAt } from './edge-session.ts';
import { personsHeaders } from './session.ts';
import { eventually, manage } from './stack.ts';

/** A user agent that the rule of `blockedVisit` blocks. */
export const HOSTILE = 'quotedbot/1.0 <img src=x onerror=alert(1)>';

export interface LoggedVerdict {
  request_id: string;
  jti: string | null;
  decision: string;
  user_agent: string;
  request_path: string;
}

export async function statusOf({ edgeUrl }: Stack, userAgent: string): Promise<number> {
  return (await browse(`${edgeUrl}/`, { headers: { 'user-agent': userAgent } })).status;
}

/** The first verdict that is as wanted. */
export async function verdictOf(
  stack: Stack,
  body: object,
  isWanted: (verdict: LoggedVerdict) => boolean,
): Promise<LoggedVerdict> {
  const found = await eventually(
    async () => (await manage<{ verdicts: LoggedVerdict[] }>(stack, '/protect/verdicts', body)).verdicts.find(isWanted),
    (verdict) => verdict !== undefined,
  );
  return found!;
}

/** Makes the rule, waits until the edge has it, and returns the verdict of a request that it blocked. */
export async function blockedVisit(stack: Stack): Promise<LoggedVerdict> {
  await manage(stack, '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: 'quotedbot', verdict: 'block', note: 'seen in March' }],
  });
  await eventually(
    () => statusOf(stack, HOSTILE),
    (status) => status === 403,
  );
  return verdictOf(stack, { decision: 'block' }, ({ user_agent: text }) => text === HOSTILE);
}

const unused = ['presses', 'touches', 'leaps', 'keys', 'wheels', 'scrolls', 'untrusted', 'keyGaps', 'pointerMoves'];
const emptyReport = {
  v: 1,
  visibleMs: 0,
  firstInteractionMs: null,
  keyGapMeanMs: 0,
  keyGapDeviationMs: 0,
  traits: [],
  ...Object.fromEntries(unused.map((name) => [name, 0])),
};

/** The jti of a session whose first report is of a longer time than the session has existed. */
export async function implausibleSession(stack: Stack): Promise<string> {
  const { edgeUrl } = stack;
  const headers = { ...personsHeaders, cookie: await sessionCookieAt(edgeUrl, personsHeaders) };
  const path = `/of-the-session-${crypto.randomUUID()}`;
  await browse(`${edgeUrl}${path}`, { headers });
  for (const elapsedMs of [600_000, 1]) {
    await browse(`${edgeUrl}/__protect/telemetry`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...emptyReport, elapsedMs }),
    });
  }
  const isOfIt = ({ request_path: seen, jti }: LoggedVerdict) => seen === path && jti !== null;
  const jti = (await verdictOf(stack, {}, isOfIt)).jti!;
  await eventually(
    async () => ({
      ...(await manage<{ scores: unknown[] }>(stack, '/protect/risk-history', { jti })),
      ...(await manage<{ telemetry: unknown[] }>(stack, '/protect/session-telemetry', { jti })),
    }),
    ({ scores, telemetry }) => scores.length > 1 && telemetry.length > 0,
  );
  return jti;
}
