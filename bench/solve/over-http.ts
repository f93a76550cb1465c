/**
 * The same programs against the running service: challenge, proof of work, picture, the time a person needs, solution.
 * A few courses show that the figures of `courses.ts` are those of the real endpoints.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { solveRsw } from '../../src/captcha/pow/pow-solve.ts';
import { type Stack, startStack } from '../../src/cli/stack.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { manage } from '../../test/support/manage.ts';
import { type Attack, type TaskName, taskOf } from './attack.ts';

const PORT_BASE = 25_040;
/** Above the least time of every task. A program has time. */
const PATIENCE_MS = 15_000;

export interface HttpResult {
  solved: number;
  /** Answers in the first 15 ms. */
  solvedAtOnce: number;
}

export interface HttpAttack {
  task: TaskName;
  solve: (challenge: ChallengeResponse) => Record<string, unknown>;
}

export function overHttp<Name extends TaskName>(task: Name, attack: Attack<Name>): HttpAttack {
  return {
    task,
    solve: (challenge) => attack.solve(taskOf(task, challenge)),
  };
}

/** `courses` of each attack, side by side, with their patience and then without. */
export async function runOverHttp(attacks: readonly HttpAttack[], courses: number): Promise<HttpResult[]> {
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const stack = await startStack({ portBase: PORT_BASE, stateDir, quiet: true, fresh: true });
  try {
    const results: HttpResult[] = [];
    for (const attack of attacks) {
      const site = await manage<{ siteKey: string }>(stack, '/sites/create', {
        name: `solve-${results.length}`,
        settings: {
          domains: ['localhost'],
          captchaType: attack.task === 'puzzle' ? 'puzzle' : 'image',
          powDifficulty: 1,
        },
      });
      const run = async (patienceMs: number): Promise<number> => {
        const tries = Array.from({ length: courses }, () => firstTry(stack, site.siteKey, attack, patienceMs));
        return (await Promise.all(tries)).filter(Boolean).length;
      };
      results.push({ solved: await run(PATIENCE_MS), solvedAtOnce: await run(0) });
    }
    return results;
  } finally {
    await stack.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function firstTry(stack: Stack, siteKey: string, attack: HttpAttack, patienceMs: number): Promise<boolean> {
  const capabilities = { audio: attack.task === 'audio' };
  const issued = (await post(stack, '/challenge', { siteKey, capabilities })) as ChallengeResponse;
  let solution: Record<string, unknown> = await workOf(issued);
  for (let { challenge } = issued; ;) {
    const response = (await post(stack, '/solution', { challenge, solution })) as SolutionResponse;
    if (response.next === undefined || response.reason !== undefined) return response.verified;
    solution = { ...attack.solve(response.next), ...(await workOf(response.next)) };
    ({ challenge } = response.next);
    await new Promise((wake) => setTimeout(wake, patienceMs));
  }
}

async function workOf({ pow }: ChallengeResponse): Promise<Record<string, unknown>> {
  if (pow === undefined) return {};
  const { n = '', x = '', t = 0 } = pow;
  return { y: await solveRsw({ n, x, t }) };
}

async function post(stack: Stack, path: string, body: object): Promise<unknown> {
  const response = await fetch(`${stack.serviceUrl}/captcha/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'http://localhost' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
