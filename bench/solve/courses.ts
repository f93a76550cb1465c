/**
 * Courses of a site with default settings, drawn and judged by the service's own code: everything between the proof of
 * work and the token, without HTTP and without the time that a person needs at least, which a program simply waits.
 */
import { drawTask } from '../../src/captcha/visual/draw-task.ts';
import { judgeVisual, visualStep } from '../../src/captcha/visual/judge-visual.ts';
import { Keyring } from '../../src/captcha/seal/keyring.ts';
import type { SealedChallenge } from '../../src/captcha/seal/sealed-challenge.ts';
import { newJti } from '../../src/captcha/seal/sealed-course.ts';
import { siteSettings } from '../../src/contract/management/site-settings.ts';
import { newChallenge } from '../verify/sealed-token.ts';
import { taskOf, type Attack, type TaskName } from './attack.ts';

export interface CourseResult {
  /** Passed with no failed try before. */
  first: boolean;
  /** Passed within the tries that a course allows. */
  passed: boolean;
  /** Processor time of the program alone. */
  cpuMs: number;
}

const settings = siteSettings.parse({ domains: ['bench.example'] });
const keyring = new Keyring(async (label) => {
  const bytes = new TextEncoder().encode(`bench ${label}`);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
});

export async function runCourse<Name extends TaskName>(task: Name, attack: Attack<Name>): Promise<CourseResult> {
  let challenge = firstRound(task);
  let cpuMs = 0;
  for (let failures = 0; ;) {
    const drawn = taskOf(task, await drawTask(keyring, challenge, undefined));
    const started = process.cpuUsage();
    const solution = attack.solve(drawn);
    const { user, system } = process.cpuUsage(started);
    cpuMs += (user + system) / 1000;
    const judgement = await judgeVisual(keyring, challenge, solution);
    const step = visualStep(challenge, judgement, settings.imageMaxRounds);
    if (step.step === 'passed') return { first: failures === 0, passed: true, cpuMs };
    if (step.step === 'failed') return { first: false, passed: false, cpuMs };
    if (step.failed) failures++;
    challenge = { ...challenge, round: challenge.round + 1, params: step.params };
  }
}

function firstRound(task: TaskName): SealedChallenge {
  const params =
    task === 'puzzle'
      ? { tolerance: settings.puzzleTolerance, hardness: 0 }
      : { rounds: settings.imageMinRounds, uncounted: 0, threshold: settings.imageThreshold };
  return {
    ...newChallenge(Date.now()),
    jti: newJti(),
    kind: task === 'puzzle' ? 'puzzle' : 'image',
    lane: task === 'audio' ? 'audio' : 'visual',
    params,
  };
}
