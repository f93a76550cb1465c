/**
 * `npm run record:risk -- probes PROGRAM...`: asks each browser all recorded questions, twice, and writes the answers to
 * `src/risk/probes/recorded-answers.json`. A recording of the same engine and version is replaced, the others stay. After a
 * change of the questions all are recorded again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { buildClient } from '../../scripts/build-client.ts';
import { probeOperations, type Probes, shortHash } from '../../src/contract/edge/probes.ts';
import { claimedBrowser } from '../../src/risk/headers/claimed-browser.ts';
import { numbered } from '../../src/risk/probes/expressions.ts';
import { asChanges, type RecordingFile, recordingsIn } from '../../src/risk/probes/recorded-answers.ts';
import { recordedQuestions } from '../../src/risk/probes/recorded-questions.ts';
import { besideBrowser, quietChromiumArgs } from './browser-process.ts';

interface Answered {
  userAgent: string;
  answers: string[];
}

const file = new URL('../../src/risk/probes/recorded-answers.json', import.meta.url);
const RUNS = 2;
const UNSTABLE = '-';

const order = probeOperations.map((_, place) => place);
const questions = recordedQuestions();
const probes: Probes = {
  operations: order,
  salt: '',
  questions: questions.map((question) => numbered(question, order)),
};
const asked = shortHash(JSON.stringify(questions));

const page = `<!doctype html><title>Questions</title><script src="/environment.js"></script><script>
fetch('/questions').then((response) => response.json()).then(async (probes) => {
  const report = await globalThis[Symbol.for('gatehouse.environment')]('/environment.js', Promise.resolve(probes));
  const { userAgent } = navigator;
  await fetch('/answers', { method: 'POST', body: JSON.stringify({ userAgent, answers: report.answers }) });
});
</script>`;

export async function recordProbes(programs: readonly string[]): Promise<void> {
  const assets = await buildClient();
  for (const program of programs) {
    const runs: Answered[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await answersOf(program, assets['environment.js']!.body));
    keep(runs);
  }
}

async function answersOf(program: string, script: string): Promise<Answered> {
  const { promise, resolve } = Promise.withResolvers<Answered>();
  const server = createServer(async (request, response) => {
    if (request.url === '/answers') {
      resolve(JSON.parse(Buffer.concat(await request.toArray()).toString()) as Answered);
      response.end();
    } else if (request.url === '/questions') response.end(JSON.stringify(probes));
    else if (request.url === '/environment.js') response.setHeader('content-type', 'text/javascript').end(script);
    else response.setHeader('content-type', 'text/html').end(page);
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  let answered: Answered | undefined;
  await besideBrowser(
    (folder) => started(program, folder, url),
    async () => {
      answered = await promise;
    },
  );
  server.close();
  return answered!;
}

/** Firefox and WebKit by their names; every other program is a Chromium. WebKit needs a display. */
function started(program: string, folder: string, url: string): ChildProcess {
  const name = basename(program);
  const chromium = ['--headless', '--disable-gpu', ...quietChromiumArgs, `--user-data-dir=${folder}`, url];
  const firefox = ['--headless', '--no-remote', '--profile', folder, url];
  const args = name === 'surf' ? [url] : name.startsWith('firefox') ? firefox : chromium;
  const env = { ...process.env, ...(name === 'surf' && { HOME: folder }) };
  return spawn(program, args, { stdio: 'ignore', detached: true, env });
}

function keep(runs: readonly Answered[]): void {
  const [{ userAgent, answers }] = runs as [Answered];
  const { engine, chromium } = claimedBrowser(userAgent.replace('Headless', ''));
  const version = chromium || Number(/(?:Firefox|Version)\/(\d+)/.exec(userAgent)?.[1]);
  if (engine === null) throw new Error(`Which browser is this? ${userAgent}`);
  const same = answers.map((answer, place) => (runs.every((run) => run.answers[place] === answer) ? answer : UNSTABLE));
  const known = JSON.parse(readFileSync(file, 'utf8')) as RecordingFile;
  const kept = known.questions === asked ? known : { questions: asked, chromium: {}, firefox: {}, safari: {} };
  const others = recordingsIn(kept[engine]).filter((recording) => recording.version !== version);
  const rows = [...others, { version, answers: same }].toSorted((one, other) => one.version - other.version);
  writeFileSync(file, `${JSON.stringify({ ...kept, [engine]: asChanges(rows) }, null, 2)}\n`);
  const unstable = same.filter((answer) => answer === UNSTABLE).length;
  process.stdout.write(`${engine} ${version}: ${answers.length} answers, ${unstable} of them differ between runs\n`);
}
