/**
 * `npm run bench -- solve [COURSES] [--http N] [--only TASK]`: attack programs against pictures, puzzles and recordings.
 * Prints how often each passes on the first try, and what a token costs it: its own processor time and the proof of work
 * before each picture, divided by the share of courses that give a token. The proof of work alone stands beside it.
 */
import { audioAttacks } from './solve/audio-attacks.ts';
import type { Attack, TaskName } from './solve/attack.ts';
import { drawExamples, runCourse } from './solve/courses.ts';
import { imageAttacks } from './solve/image-attacks.ts';
import { type HttpAttack, overHttp, runOverHttp } from './solve/over-http.ts';
import { puzzleAttacks } from './solve/puzzle-attacks.ts';
import { workPrice } from './solve/work-price.ts';

const COURSES_DEFAULT = 200;
const HTTP_COURSES_DEFAULT = 5;
/** A program that thinks long gets fewer courses, so that the bench ends. */
const PROGRAM_MAX_MS = 60_000;
const COURSES_MIN = 20;
/** From which a program sets its thresholds. */
const EXAMPLES = 60;
/** Of the courses that a program passes on the first try. */
const TARGET_SHARE = 0.2;

interface Row {
  task: TaskName;
  name: string;
  courses: number;
  firstShare: number;
  programMs: number;
  tokenMs: number;
  http: HttpAttack;
}

export async function run(args: readonly string[]): Promise<void> {
  const option = (name: string): string | undefined => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const courses = Number(/^\d+$/.test(args[0] ?? '') ? args[0] : COURSES_DEFAULT);
  const httpCourses = Number(option('--http') ?? HTTP_COURSES_DEFAULT);
  const only = option('--only');
  const price = await workPrice();
  const wanted = <Name extends TaskName>(task: Name, attacks: readonly Attack<Name>[]): Promise<Row[]> =>
    only === undefined || task === only ? attackAll(task, attacks, courses, price.timeLockMs) : Promise.resolve([]);
  const measured = [
    ...(await wanted('image', imageAttacks)),
    ...(await wanted('puzzle', puzzleAttacks)),
    ...(await wanted('audio', audioAttacks)),
  ];
  const { squarings, timeLockMs, hashes, sha256Ms } = price;
  process.stdout.write(`One proof of work of the default difficulty, CPU ms in this process:
  rsw     ${timeLockMs.toFixed(0).padStart(7)}  ${squarings} squarings by BigInt, as in a browser
  sha256  ${sha256Ms.toFixed(0).padStart(7)}  ${hashes} hashes on average by the widget's plain JavaScript\n
At most ${courses} courses of each program\n`);
  print(measured, timeLockMs);
  if (httpCourses > 0) await printHttp(measured, httpCourses);
}

async function attackAll<Name extends TaskName>(
  task: Name,
  attacks: readonly Attack<Name>[],
  courses: number,
  workMs: number,
): Promise<Row[]> {
  const rows: Row[] = [];
  const examples = attacks.some((attack) => 'learn' in attack) ? await drawExamples(task, EXAMPLES) : [];
  for (const attack of attacks) {
    attack.learn?.(examples);
    const sum = { first: 0, passed: 0, cpuMs: 0 };
    let done = 0;
    for (; done < courses && (sum.cpuMs < PROGRAM_MAX_MS || done < COURSES_MIN); done++) {
      const result = await runCourse(task, attack);
      sum.first += result.first ? 1 : 0;
      sum.passed += result.passed ? 1 : 0;
      sum.cpuMs += result.cpuMs;
    }
    rows.push({
      task,
      name: attack.name,
      courses: done,
      firstShare: sum.first / done,
      programMs: sum.cpuMs / done,
      tokenMs: (sum.cpuMs + done * workMs) / sum.passed,
      http: overHttp(task, attack),
    });
    process.stderr.write(`${task}, ${attack.name}: ${sum.first} of ${done} on the first try\n`);
  }
  return rows;
}

function print(rows: readonly Row[], workMs: number): void {
  console.table(
    rows.map(({ task, name, courses, firstShare, programMs, tokenMs }) => ({
      task,
      program: name,
      courses,
      'first try': `${(firstShare * 100).toFixed(1)} %`,
      'at most': `${TARGET_SHARE * 100} %`,
      'own CPU ms a course': programMs.toFixed(1),
      'CPU ms a token': Number.isFinite(tokenMs) ? tokenMs.toFixed(0) : 'no token',
      'times the work alone': Number.isFinite(tokenMs) ? (tokenMs / workMs).toFixed(1) : '–',
    })),
  );
  const above = rows.filter(({ firstShare }) => firstShare > TARGET_SHARE);
  for (const { task, name } of above) process.stdout.write(`Above the target: ${task}, ${name}\n`);
}

/** The best program of each task, over HTTP. */
async function printHttp(rows: readonly Row[], courses: number): Promise<void> {
  const best = (['image', 'puzzle', 'audio'] as const).flatMap(
    (task) => rows.filter((row) => row.task === task).toSorted((a, b) => b.firstShare - a.firstShare)[0] ?? [],
  );
  const results = await runOverHttp(
    best.map(({ http }) => http),
    courses,
  );
  process.stdout.write(`\nThe best of each over HTTP, first tries of ${courses}\n`);
  console.table(
    best.map(({ task, name }, index) => ({
      task,
      program: name,
      passed: results[index]?.solved,
      'passed when it answers at once': results[index]?.solvedAtOnce,
    })),
  );
}
