/**
 * `npm run bench -- risk`: replays recorded sessions that the detectors' weights were not set by
 * (`test/fixtures/risk/report.json`), prints how many are stopped at both default thresholds, and times a score.
 * `--tune` replays the set that weights are set by, `--each` prints every session.
 */
import { readRecording, recordedKinds } from '../lab/risk/recording.ts';
import type { RecordedSession } from '../lab/risk/recording.ts';
import { circumstances, replay } from '../lab/risk/replay.ts';
import type { Replayed } from '../lab/risk/replay.ts';
import { instancePolicy } from '../src/contract/management/instance-policy.ts';

const TIMED_ROUNDS = 200;

const limits = `What this does not show: no real person was recorded. "person-like" sessions are browsers with a window and without a
driver, operated through the system's pointer and keyboard by a program that imitates a hand, on one machine with one
screen. Automation of the same quality gets the same score. Address categories, bursts and changes of network may still
reveal it, but a recording on one machine cannot show that.`;

export async function run(args: readonly string[]): Promise<void> {
  const set = args.includes('--tune') ? 'tune' : 'report';
  const sessions = readRecording(set);
  const { challengeThreshold, blockThreshold } = instancePolicy.parse({});
  const replayed = replay(sessions);
  process.stdout.write(`Risk on ${replayed.length} recorded sessions (${set} set)\n\n`);
  printKinds(replayed, challengeThreshold, blockThreshold);
  for (const [name, threshold] of [
    ['challenge', challengeThreshold],
    ['block', blockThreshold],
  ] as const) {
    printMatrix(name, threshold, replayed);
  }
  printWronglyStopped(replayed, challengeThreshold);
  printCircumstances(sessions, challengeThreshold, blockThreshold);
  if (args.includes('--each')) printEach(replayed);
  const started = performance.now();
  for (let round = 0; round < TIMED_ROUNDS; round++) replay(sessions);
  const events = sessions.reduce((sum, session) => sum + session.events.length, 0) * TIMED_ROUNDS;
  const microseconds = ((performance.now() - started) * 1000) / events;
  process.stdout.write(
    `\n${microseconds.toFixed(1)} µs for each event, with its score (${events} events)\n\n${limits}\n`,
  );
}

function printKinds(replayed: readonly Replayed[], challenge: number, block: number): void {
  process.stdout.write(`${row(['kind', 'n', 'allowed', 'challenged', 'blocked', 'median'])}  fired in most\n`);
  for (const kind of recordedKinds) {
    const own = replayed.filter(({ session }) => session.kind === kind);
    if (own.length === 0) {
      process.stdout.write(`${row([kind, 0, '–', '–', '–', '–'])}  not recorded, needs a display\n`);
      continue;
    }
    const blocked = own.filter(({ score }) => score >= block).length;
    const stopped = own.filter(({ score }) => score >= challenge).length;
    const scores = own.map(({ score }) => score).toSorted((a, b) => a - b);
    const median = scores[Math.floor(scores.length / 2)] ?? 0;
    const cells = [kind, own.length, own.length - stopped, stopped - blocked, blocked, median.toFixed(2)];
    process.stdout.write(`${row(cells)}  ${mostFired(own)}\n`);
  }
}

/** The same sessions as if they came from elsewhere. */
function printCircumstances(sessions: readonly RecordedSession[], challenge: number, block: number): void {
  const persons = sessions.filter(({ kind }) => isPersonLike(kind));
  process.stdout.write(
    `\nperson-like, coming from ${' '.repeat(10)}${row(['', 'challenged', 'blocked', 'highest'])}\n`,
  );
  for (const [name, around] of Object.entries(circumstances)) {
    const scores = replay(persons, around).map(({ score }) => score);
    const blocked = scores.filter((score) => score >= block).length;
    const challenged = scores.filter((score) => score >= challenge).length - blocked;
    process.stdout.write(`${name.padEnd(35)}${row(['', challenged, blocked, Math.max(...scores).toFixed(2)])}\n`);
  }
}

function printWronglyStopped(replayed: readonly Replayed[], threshold: number): void {
  const wronged = replayed.filter(({ session, score }) => isPersonLike(session.kind) && score >= threshold);
  for (const { session, score, detectors } of wronged) {
    process.stdout.write(`wrongly stopped: ${session.variant}, ${score.toFixed(2)}: ${detectors.join(', ')}\n`);
  }
}

function printMatrix(name: string, threshold: number, replayed: readonly Replayed[]): void {
  const count = (personLike: boolean, stopped: boolean): number =>
    replayed.filter(({ session, score }) => isPersonLike(session.kind) === personLike && score >= threshold === stopped)
      .length;
  process.stdout.write(`\nat the ${name} threshold ${threshold}\n`);
  process.stdout.write(`${row(['', 'stopped', 'below it'])}\n`);
  process.stdout.write(`${row(['automated', count(false, true), count(false, false)])}\n`);
  process.stdout.write(`${row(['person-like', count(true, true), count(true, false)])}\n`);
}

function printEach(replayed: readonly Replayed[]): void {
  process.stdout.write('\n');
  for (const { session, score, detectors } of replayed) {
    process.stdout.write(
      `${session.kind.padEnd(15)} ${score.toFixed(2)}  ${session.variant}: ${detectors.join(', ')}\n`,
    );
  }
}

function isPersonLike(kind: string): boolean {
  return kind === 'person-like';
}

function mostFired(own: readonly Replayed[]): string {
  const counts = new Map<string, number>();
  for (const name of own.flatMap(({ detectors }) => detectors)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const most = [...counts].filter(([, count]) => count * 2 > own.length).toSorted((a, b) => b[1] - a[1]);
  return most.map(([name]) => name).join(', ') || '–';
}

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell, index) => (index === 0 ? String(cell).padEnd(15) : String(cell).padStart(11))).join('');
}
