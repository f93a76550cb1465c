/**
 * `npm run bench -- solve [COURSES] [--http N] [--only TASK] [--train]`: attack programs against pictures, puzzles and
 * recordings, trained networks among them. Prints how often each passes on the first try, and what a token costs it: its
 * own processor time and the proof of work, divided by the share of courses that give a token. The table also
 * has the price of the proof of work alone. A network is trained at the first run, which takes some minutes of one core,
 * and its weights are kept in `bench/.weights`; `--train` trains it once more and replaces them.
 */
import { audioAttacks } from './solve/audio-attacks.ts';
import type { Attack, TaskName } from './solve/attack.ts';
import { runCourse } from './solve/courses.ts';
import { imageAttacks } from './solve/image-attacks.ts';
import { pictureModels, soundModel, type TrainedAttack } from './solve/model/models.ts';
import { type HttpAttack, overHttp, runOverHttp } from './solve/over-http.ts';
import { puzzleAttacks } from './solve/puzzle-attacks.ts';
import { workPrice } from './solve/work-price.ts';

const COURSES_DEFAULT = 200;
const HTTP_COURSES_DEFAULT = 5;
/** A program that thinks long gets fewer courses, so that the bench ends. */
const PROGRAM_MAX_MS = 60_000;
const COURSES_MIN = 20;

interface Row {
  task: TaskName;
  name: string;
  courses: number;
  firstShare: number;
  programMs: number;
  tokenMs: number;
  trainingMinutes: number;
  http: HttpAttack;
}

export async function run(args: readonly string[]): Promise<void> {
  const option = (name: string): string | undefined => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const courses = Number(/^\d+$/.test(args[0] ?? '') ? args[0] : COURSES_DEFAULT);
  const httpCourses = Number(option('--http') ?? HTTP_COURSES_DEFAULT);
  const only = option('--only');
  const again = args.includes('--train');
  const isWanted = (task: TaskName): boolean => only === undefined || task === only;
  const price = await workPrice();
  const measured: Row[] = [];
  const measure = async <Name extends TaskName>(
    task: Name,
    attacks: readonly Attack<Name>[],
    { attack, trainingMinutes }: TrainedAttack<Name>,
  ): Promise<void> => {
    for (const one of attacks) measured.push(await measuredRow(task, one, courses, price.pictureMs, 0));
    measured.push(await measuredRow(task, attack, courses, price.pictureMs, trainingMinutes));
  };
  if (isWanted('image') || isWanted('puzzle')) {
    const { image, puzzle } = pictureModels(again);
    if (isWanted('image')) await measure('image', imageAttacks, image);
    if (isWanted('puzzle')) await measure('puzzle', puzzleAttacks, puzzle);
  }
  if (isWanted('audio')) await measure('audio', audioAttacks, soundModel(again));
  const { squarings, timeLockMs, pictureMs, hashes, sha256Ms } = price;
  process.stdout.write(`One proof of work of the default difficulty, CPU ms in this process:
  rsw     ${timeLockMs.toFixed(0).padStart(7)}  ${squarings} squarings by BigInt, as in a browser
  sha256  ${sha256Ms.toFixed(0).padStart(7)}  ${hashes} hashes on average by the widget's plain JavaScript
Before and beside a picture, rsw: ${pictureMs.toFixed(0)}\n
At most ${courses} courses of each program\n`);
  print(measured, pictureMs);
  if (httpCourses > 0) await printHttp(measured, httpCourses);
}

async function measuredRow<Name extends TaskName>(
  task: Name,
  attack: Attack<Name>,
  courses: number,
  workMs: number,
  trainingMinutes: number,
): Promise<Row> {
  const sum = { first: 0, passed: 0, cpuMs: 0 };
  let done = 0;
  for (; done < courses && (sum.cpuMs < PROGRAM_MAX_MS || done < COURSES_MIN); done++) {
    const result = await runCourse(task, attack);
    sum.first += result.first ? 1 : 0;
    sum.passed += result.passed ? 1 : 0;
    sum.cpuMs += result.cpuMs;
  }
  process.stderr.write(`${task}, ${attack.name}: ${sum.first} of ${done} on the first try\n`);
  return {
    task,
    name: attack.name,
    courses: done,
    firstShare: sum.first / done,
    programMs: sum.cpuMs / done,
    tokenMs: (sum.cpuMs + done * workMs) / sum.passed,
    trainingMinutes,
    http: overHttp(task, attack),
  };
}

function print(rows: readonly Row[], workMs: number): void {
  console.table(
    rows.map(({ task, name, courses, firstShare, programMs, tokenMs, trainingMinutes }) => ({
      task,
      program: name,
      courses,
      'first try': `${(firstShare * 100).toFixed(1)} %`,
      'own CPU ms a course': programMs.toFixed(1),
      'CPU ms a token': Number.isFinite(tokenMs) ? tokenMs.toFixed(0) : 'no token',
      'times the work alone': Number.isFinite(tokenMs) ? (tokenMs / workMs).toFixed(1) : '–',
      'CPU minutes of training': trainingMinutes === 0 ? '–' : trainingMinutes.toFixed(1),
    })),
  );
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
