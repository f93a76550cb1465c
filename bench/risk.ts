/**
 * `npm run bench -- risk`: replays recorded sessions that the detectors' weights were not set by
 * (`test/fixtures/risk/report.json`), prints what the default policy does to them, and times a score.
 * `--tune` replays the set that weights are set by, `--each` prints every session.
 */
import { isHidden, isPersonLike, isStoppedByTask, outcomeOf, outcomes, thresholds } from '../lab/risk/outcome.ts';
import { readRecording, recordedKinds, type RecordedSession } from '../lab/risk/recording.ts';
import { type Circumstances, circumstances, replay, type Replayed } from '../lab/risk/replay.ts';

const TIMED_ROUNDS = 200;

const limits = `What this does not show: no real person was recorded. "person-like" sessions are browsers with a window and without a
driver, operated through the system's pointer and keyboard by a program that imitates a hand, on one machine with one
screen and no graphics card. Automation of the same quality gets the same score. Address categories, bursts and changes
of network may still reveal it, but a recording on one machine cannot show that.`;

export async function run(args: readonly string[]): Promise<void> {
  const set = args.includes('--tune') ? 'tune' : 'report';
  const sessions = readRecording(set);
  const replayed = replay(sessions);
  process.stdout.write(`Risk on ${replayed.length} recorded sessions (${set} set)\n\n`);
  printKinds(replayed);
  for (const [name, threshold] of Object.entries(thresholds)) printMatrix(name, threshold, replayed);
  printHidden(sessions);
  printNotFound(replayed);
  printWronglyStopped(replayed);
  printCircumstances(sessions);
  if (args.includes('--each')) printEach(replayed);
  const started = performance.now();
  for (let round = 0; round < TIMED_ROUNDS; round++) replay(sessions);
  const events = sessions.reduce((sum, session) => sum + session.events.length, 0) * TIMED_ROUNDS;
  const microseconds = ((performance.now() - started) * 1000) / events;
  process.stdout.write(
    `\n${microseconds.toFixed(1)} µs for each event, with its score (${events} events)\n\n${limits}\n`,
  );
}

function printKinds(replayed: readonly Replayed[]): void {
  process.stdout.write(`${row(['kind', 'n', ...outcomes, 'median'])}  fired in most\n`);
  for (const kind of recordedKinds) {
    const own = replayed.filter(({ session }) => session.kind === kind);
    if (own.length === 0) {
      process.stdout.write(`${row([kind, 0, '–', '–', '–', '–', '–'])}  not recorded, needs a display\n`);
      continue;
    }
    const counts = outcomes.map((outcome) => own.filter(({ score }) => outcomeOf(score) === outcome).length);
    const scores = own.map(({ score }) => score).toSorted((a, b) => a - b);
    const median = scores[Math.floor(scores.length / 2)] ?? 0;
    process.stdout.write(`${row([kind, own.length, ...counts, median.toFixed(2)])}  ${mostFired(own)}\n`);
  }
}

/** What one machine adds by itself is left out in turn. */
function printHidden(sessions: readonly RecordedSession[]): void {
  const ways: Record<string, Circumstances> = {
    'hidden automation': {},
    'without software-rendering': { ignoredDetectors: ['software-rendering'] },
    'without debugger-attached': { ignoredDetectors: ['debugger-attached'] },
  };
  process.stdout.write(`\n${row(['', 'n', 'task or blocked'])}\n`);
  for (const [name, around] of Object.entries(ways)) {
    const hidden = replay(sessions, around).filter(isHidden);
    const stopped = hidden.filter(isStoppedByTask).length;
    const percent = ((100 * stopped) / Math.max(hidden.length, 1)).toFixed(0);
    process.stdout.write(`${name.padEnd(30)}${hidden.length} of which ${stopped} (${percent} %)\n`);
  }
}

function printNotFound(replayed: readonly Replayed[]): void {
  for (const { session, score, detectors } of replayed.filter((one) => isHidden(one) && !isStoppedByTask(one))) {
    process.stdout.write(`below a task: ${session.variant}, ${score.toFixed(2)}: ${detectors.join(', ') || '–'}\n`);
  }
}

/** The same sessions as if they came from elsewhere. */
function printCircumstances(sessions: readonly RecordedSession[]): void {
  const persons = sessions.filter(({ kind }) => kind === 'person-like');
  process.stdout.write(
    `\nperson-like, coming from ${' '.repeat(10)}${row(['', 'challenged', 'blocked', 'highest'])}\n`,
  );
  for (const [name, around] of Object.entries(circumstances)) {
    const scores = replay(persons, around).map(({ score }) => score);
    const blocked = scores.filter((score) => outcomeOf(score) === 'blocked').length;
    const challenged = scores.filter((score) => score >= thresholds.work).length - blocked;
    process.stdout.write(`${name.padEnd(35)}${row(['', challenged, blocked, Math.max(...scores).toFixed(2)])}\n`);
  }
}

function printWronglyStopped(replayed: readonly Replayed[]): void {
  for (const { session, score, detectors } of replayed.filter(
    (one) => isPersonLike(one) && one.score >= thresholds.work,
  )) {
    process.stdout.write(`wrongly stopped: ${session.variant}, ${score.toFixed(2)}: ${detectors.join(', ')}\n`);
  }
}

function printMatrix(name: string, threshold: number, replayed: readonly Replayed[]): void {
  const count = (personLike: boolean, stopped: boolean): number =>
    replayed.filter((one) => isPersonLike(one) === personLike && one.score >= threshold === stopped).length;
  process.stdout.write(`\nat the threshold of ${name}, ${threshold}\n`);
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

function mostFired(own: readonly Replayed[]): string {
  const counts = new Map<string, number>();
  for (const name of own.flatMap(({ detectors }) => detectors)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const most = [...counts].filter(([, count]) => count * 2 > own.length).toSorted((a, b) => b[1] - a[1]);
  return most.map(([name]) => name).join(', ') || '–';
}

function row(cells: readonly (string | number)[]): string {
  return cells.map((cell, index) => (index === 0 ? String(cell).padEnd(15) : String(cell).padStart(11))).join('');
}
