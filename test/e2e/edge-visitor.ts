/** Visitors for the edge tests: signals with the proxy's secret, a solved challenge, cookies. */
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import type { Stack } from '../../src/cli/stack.ts';
import { browse, type BrowseInit } from '../support/browse.ts';
import { solveWork } from '../support/session.ts';
import { eventually, manage } from '../support/stack.ts';

export interface VisitorSignals {
  from?: string;
  country?: string;
  asn?: string;
  ja4?: string;
}

/** What the operator's own proxy sends. Without `from`, the stack's listener uses the address of the socket. */
export function signalsOf(stack: Stack, { from, country, asn, ja4 }: VisitorSignals): Record<string, string> {
  if (from === undefined) return {};
  return {
    'x-signals-secret': stack.signalsSecret,
    'x-client-ip': from,
    ...(country === undefined ? {} : { 'x-client-country': country }),
    ...(asn === undefined ? {} : { 'x-client-asn': asn }),
    ...(ja4 === undefined ? {} : { 'x-client-ja4': ja4 }),
  };
}

/** Edge variables for tests that change rules often: the edge checks for changes every 100 ms. */
export const quickRules = { RULES_POLL_SECONDS: '0.1', RULES_MAX_STALE_SECONDS: '0.1' };

/** Makes rules and waits until the edge has them. */
export async function addRules(stack: Stack, ...rules: object[]): Promise<void> {
  const { version } = await manage<{ version: number }>(stack, '/protect/access-rules/create', { rules });
  const loaded = async () => {
    const answer = await fetch(`${stack.edgeUrl}/__protect/health`, {
      headers: { authorization: `Bearer ${stack.opsToken}` },
    });
    return ((await answer.json()) as { ruleset: { version: number } | null }).ruleset?.version ?? -1;
  };
  await eventually(loaded, (current) => current >= version);
}

/** How often the demo origin received a path. */
export async function hitsOf(stack: Stack, path: string): Promise<number> {
  const hits = (await (await fetch(`${stack.originUrl}/hits`)).json()) as Record<string, number>;
  return hits[path] ?? 0;
}

/** A token as the widget would get it, through the edge. */
export async function solvedToken(
  stack: Stack,
  headers: NonNullable<BrowseInit['headers']>,
  body: Record<string, unknown> = {},
): Promise<string> {
  const post = async <Answer>(path: string, value: object): Promise<Answer> => {
    const response = await browse(stack.edgeUrl + path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(value),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
  const challenge = await post<ChallengeResponse>('/__protect/challenge', {
    capabilities: { bigint: true, worker: true },
    action: 'clearance',
    ...body,
  });
  const { pow } = challenge;
  if (!pow) throw new Error(`not a proof of work: ${challenge.kind}`);
  const solution = await solveWork(pow);
  const answer = await post<SolutionResponse>('/__protect/solution', { challenge: challenge.challenge, solution });
  if (!answer.token) throw new Error(`not solved: ${JSON.stringify(answer)}`);
  return answer.token;
}

/** `name=value` of every cookie that a response sets. */
export function cookiesOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
}

/** Solves one proof of work, and returns the cookie of its clearance. A picture would be an error here. */
export async function clearanceOf(stack: Stack, from: string): Promise<string> {
  const headers = signalsOf(stack, { from });
  const bought = await browse(`${stack.edgeUrl}/__protect/verify`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ token: await solvedToken(stack, headers) }),
  });
  const { verified } = (await bought.json()) as { verified: boolean };
  if (!verified) throw new Error('The token of a solved challenge bought no clearance');
  return cookiesOf(bought);
}
