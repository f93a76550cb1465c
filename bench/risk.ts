/**
 * `npm run bench -- risk`: the detectors on recorded sessions that their weights were never set by
 * (`test/fixtures/risk/report.json`), as a confusion matrix at both default thresholds; and what a score costs.
 * `npm run bench -- risk --tune` shows the other half, the one weights may be set by; `--each` every session.
 */
import { readFileSync } from 'node:fs';
import { instancePolicy } from '../src/contract/management/instance.ts';
import { circumstances, recordedKinds, recording, replay } from '../lab/risk/replay.ts';
import type { RecordedSession, Replayed } from '../lab/risk/replay.ts';

const TIMED_ROUNDS = 200;

const limits = `What this does not say: there is no real person in it. "person-like" are browsers with a window that nothing drives
from within, worked by a program through the system's pointer and keyboard as near to a hand as it comes, on one machine,
one screen, Debian's Chromium, Firefox and WebKit. Automation of the same quality would get the same score. Whoever is
missed may still be found by address categories, bursts and changes of network, which a recording on one machine cannot hold.`;

export async function run(args: readonly string[]): Promise<void> {
  const set = args.includes('--tune') ? 'tune' : 'report';
  const file = new URL(`../test/fixtures/risk/${set}.json`, import.meta.url);
  const sessions = recording.parse(JSON.parse(readFileSync(file, 'utf8')));
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
  printWronged(replayed, challengeThreshold);
  printCircumstances(sessions, challengeThreshold, blockThreshold);
  if (args.includes('--each')) printEach(replayed);
  const started = performance.now();
  for (let round = 0; round < TIMED_ROUNDS; round++) replay(sessions);
  const events = sessions.reduce((sum, session) => sum + session.events.length, 0) * TIMED_ROUNDS;
  const micros = ((performance.now() - started) * 1000) / events;
  process.stdout.write(`\n${micros.toFixed(1)} µs an event, score included (${events} events)\n\n${limits}\n`);
}

function printKinds(replayed: readonly Replayed[], challenge: number, block: number): void {
  process.stdout.write(`${row(['kind', 'n', 'allowed', 'challenged', 'blocked', 'median'])}  fired in most\n`);
  for (const kind of recordedKinds) {
    const own = replayed.filter(({ session }) => session.kind === kind);
    if (own.length === 0) {
      process.stdout.write(`${row([kind, 0, '–', '–', '–', '–'])}  not recorded: needs a display\n`);
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

/** The same sessions, had they come from elsewhere. */
function printCircumstances(sessions: readonly RecordedSession[], challenge: number, block: number): void {
  const persons = sessions.filter(({ kind }) => isPersonLike(kind));
  process.stdout.write(
    `\nperson-like, had they been ${' '.repeat(8)}${row(['', 'challenged', 'blocked', 'highest'])}\n`,
  );
  for (const [name, around] of Object.entries(circumstances)) {
    const scores = replay(persons, around).map(({ score }) => score);
    const blocked = scores.filter((score) => score >= block).length;
    const challenged = scores.filter((score) => score >= challenge).length - blocked;
    process.stdout.write(`${name.padEnd(35)}${row(['', challenged, blocked, Math.max(...scores).toFixed(2)])}\n`);
  }
}

/** Whoever is wronged is named. */
function printWronged(replayed: readonly Replayed[], threshold: number): void {
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
  process.stdout.write(`${row(['', 'stopped', 'let pass'])}\n`);
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

/** A window alone makes nobody a person, nor does the system's pointer in a tool's hand. */
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
