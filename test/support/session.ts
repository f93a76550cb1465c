/**
 * Earns a session as the protect script does, with the same solvers: asks for a challenge, solves it, and sends the
 * solution with the report of an ordinary browser.
 */
import type { PowTask } from '../../src/contract/captcha/challenge-api.ts';
import type { EnvironmentReport } from '../../src/contract/edge/environment-report.ts';
import type { SessionChallenge } from '../../src/contract/edge/session-challenge.ts';
import { solvePow } from '../../src/widget/pow/pow-task.ts';
import type { PowSolution } from '../../src/widget/pow/pow-task.ts';

/** A browser that no program drives. */
export const PERSONS_BROWSER: EnvironmentReport = { v: 1, traits: [] };

export interface SessionResponse {
  status: number;
  body: unknown;
}
/** One call of a page. Everything else that belongs to the visitor stays the same. */
export type PostPage<Response extends SessionResponse> = (page: object) => Promise<Response>;

/** What the second call sends. */
export interface SolvedSession {
  challenge: string;
  solution: PowSolution;
  environment: EnvironmentReport;
}

export async function solveWork(pow: PowTask): Promise<PowSolution> {
  const solution = await solvePow(
    pow,
    () => undefined,
    () => false,
    true,
  );
  if (solution === null) throw new Error(`${pow.lane} was not solved`);
  return solution;
}

export async function solvedSession({ challenge, pow }: SessionChallenge): Promise<SolvedSession> {
  return { challenge, solution: await solveWork(pow), environment: PERSONS_BROWSER };
}

/** Both calls, or the first alone where it renews a session. */
export async function earnSession<Response extends SessionResponse>(post: PostPage<Response>): Promise<Response> {
  const first = await post({});
  const asked = first.body as Partial<SessionChallenge>;
  if (asked.challenge === undefined) return first;
  return post(await solvedSession(asked as SessionChallenge));
}
