/**
 * Earns a session as the protect script does: asks for a challenge, solves it, and sends the solution with the report of
 * an ordinary browser.
 */
import type { PowTask, SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import { languageFeatures } from '../../src/contract/edge/page-report-names.ts';
import type { EnvironmentReport } from '../../src/contract/edge/page-reports.ts';
import { solvePow, type PowSolution } from '../../src/widget/pow/pow-task.ts';
import { withAnswers } from './probe-answers.ts';
import { squaredNatively } from './native-squarings.ts';

/** What a page in Chrome on Windows finds out about its browser, when no program drives it. */
export const PERSONS_BROWSER: EnvironmentReport = {
  v: 1,
  traits: [],
  engine: 'v8',
  marks: ['chrome-object', 'hints', 'chromium-css'],
  features: 2 ** languageFeatures.length - 1,
  userAgent:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36',
  system: 'windows',
  hints: {
    brands: '"Not_A Brand";v="24", "Chromium";v="153", "Google Chrome";v="153"',
    mobile: false,
    platform: 'Windows',
  },
  renderer: 'direct3d',
  signs: [],
};

/** The same browser's headers on every request. */
export const personsHeaders = {
  'user-agent': PERSONS_BROWSER.userAgent,
  'sec-ch-ua': '"Chromium";v="153", "Not_A Brand";v="24", "Google Chrome";v="153"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Windows"',
};

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

/** OpenSSL has no key with such an exponent for a test that runs in a Worker. */
const hasOpenssl = navigator.userAgent.startsWith('Node.js');

export async function solveWork(pow: PowTask): Promise<PowSolution> {
  const { lane, n = '', x = '', t = 0 } = pow;
  if (lane === 'rsw' && hasOpenssl) return { y: squaredNatively({ n, x, t }) };
  const solution = await solvePow(
    pow,
    () => undefined,
    () => false,
    // Hashes take seconds, in which no socket may die.
    lane === 'rsw',
  );
  if (solution === null) throw new Error(`${pow.lane} was not solved`);
  return solution;
}

export async function solvedSession(
  { challenge, pow, probes }: SessionChallenge,
  environment = PERSONS_BROWSER,
): Promise<SolvedSession> {
  return { challenge, solution: await solveWork(pow), environment: withAnswers(environment, probes) };
}

/** Both calls, or the first alone where it renews a session. */
export async function earnSession<Response extends SessionResponse>(
  post: PostPage<Response>,
  environment?: EnvironmentReport,
): Promise<Response> {
  const first = await post({});
  const asked = first.body as Partial<SessionChallenge>;
  if (asked.challenge === undefined) return first;
  return post(await solvedSession(asked as SessionChallenge, environment));
}
