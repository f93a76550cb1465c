/**
 * `npm run mutate [-- ROOM… --share 0.5 --seed 2]`: changes the code of a room in one place at a time, in a copy, and
 * runs the room's tests on each change. A change that no test notices has survived. Prints the survivors and the part
 * of the changes that was noticed. Stryker makes the changes and drives Vitest.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { reasonOf } from './judged.ts';
import { type Room, rooms } from './rooms.ts';

/** What Stryker reports of a change. */
interface Mutant {
  status: string;
  replacement: string;
  location: { start: Place; end: Place };
}
interface Place {
  line: number;
  column: number;
}
interface Report {
  files: Record<string, { source: string; mutants: Mutant[] }>;
}

const HERE = import.meta.dirname;
/** The tests of a room run once before the changes. On a busy machine that takes minutes. */
const FIRST_RUN_MINUTES = 20;
/** Beyond what the tests took without a change. A change that makes them run forever counts as noticed; a busy machine must not. */
const ENDLESS_AFTER_MS = 30_000;

const { values, positionals } = parseArgs({
  options: { share: { type: 'string' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
});

function runStryker(room: Room): Report {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-mutation-'));
  const config = join(dir, 'stryker.json');
  const report = join(dir, 'report.json');
  const options = {
    plugins: ['@stryker-mutator/vitest-runner', join(HERE, 'sample.ts')],
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts' },
    checkers: ['sample'],
    mutate: [`src/${room.name}/**/*.ts`, ...(room.inWorkerd ?? []).map((file) => `!src/${room.name}/${file}`)],
    ignorePatterns: ['dist', '.git', '.wrangler', '.gatehouse'],
    tempDirName: join(dir, 'copy'),
    coverageAnalysis: 'perTest',
    concurrency: 1,
    dryRunTimeoutMinutes: FIRST_RUN_MINUTES,
    timeoutMS: ENDLESS_AFTER_MS,
    reporters: ['json'],
    jsonReporter: { fileName: report },
  };
  try {
    writeFileSync(config, JSON.stringify(options));
    const { status, error } = spawnSync(join(HERE, 'node_modules/.bin/stryker'), ['run', config], {
      stdio: 'inherit',
      env: {
        ...process.env,
        MUTATION_TESTS: room.tests.join('\n'),
        MUTATION_SHARE: values.share ?? String(room.share),
        MUTATION_SEED: values.seed,
      },
    });
    if (status !== 0) throw error ?? new Error(`Stryker ended with exit code ${status}`);
    return JSON.parse(readFileSync(report, 'utf8')) as Report;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** `file:line  before  →  after`, and why the change makes no difference where that is known. */
function survivorLine(file: string, source: string, mutant: Mutant): string {
  const { start, end } = mutant.location;
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const first = lines[0]!.slice(start.column - 1, lines.length === 1 ? end.column - 1 : undefined);
  const before = lines.length === 1 ? first : `${first} …`;
  const after = mutant.replacement.replaceAll(/\s+/g, ' ');
  const reason = reasonOf(file, before, after);
  return `${file}:${start.line}  ${before}  →  ${after}${reason === null ? '' : `\n    No difference: ${reason}`}`;
}

const rows: string[] = [];
for (const room of rooms.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  let killed = 0;
  let endless = 0;
  const survivors: string[] = [];
  for (const [file, { source, mutants }] of Object.entries(runStryker(room).files)) {
    for (const mutant of mutants) {
      if (mutant.status === 'Killed' || mutant.status === 'Timeout') killed++;
      if (mutant.status === 'Timeout') endless++;
      if (mutant.status === 'Survived' || mutant.status === 'NoCoverage') {
        survivors.push(survivorLine(file, source, mutant));
      }
    }
  }
  process.stdout.write(`${survivors.join('\n')}\n`);
  const total = killed + survivors.length;
  const share = Math.round((100 * killed) / total);
  rows.push(`${room.name.padEnd(16)}${killed} of ${total} noticed (${share} %), ${endless} of them by running on`);
}
process.stdout.write(`\n${rows.join('\n')}\n`);
