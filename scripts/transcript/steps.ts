/** The commands of the transcript after `npm start`, run for real against a stack, and how their output is written. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { StackFacts } from '../../src/cli/state.ts';
import { eventually } from '../../test/support/eventually.ts';

interface Step {
  /** Before the command. */
  says: string;
  /** As the page shows it. `REFERENCE` and `SHORT` stand for those of the last answer of the gate. */
  command: string;
  /** What the output has once rules and log have arrived. */
  until: RegExp;
}

const ASK =
  "curl -s -A badbot -o /dev/null -w '%{http_code} %header{x-protect-decision} %header{x-protect-request-id}' http://127.0.0.1:8800/";

const steps: readonly Step[] = [
  {
    says: '## The first request\n\nA script is challenged: a browser would solve this and pass.',
    command: ASK,
    until: /^403 challenge/,
  },
  {
    says: '## The first rule\n\nThe rule names the bot. In monitor mode it only records, and the bot is challenged as before:',
    command: `echo '{"type":"userAgent","value":"badbot","verdict":"block"}' > rules.ndjson`,
    until: /^$/,
  },
  {
    says: '',
    command: 'npm run gatehouse -- rules import rules.ndjson --format ndjson --mode monitor',
    until: /./,
  },
  { says: '', command: ASK, until: /^403 challenge/ },
  {
    says: '## Enforce it',
    command: 'npm run gatehouse -- rules import rules.ndjson --format ndjson --mode enforce',
    until: /./,
  },
  { says: 'Within seconds the bot is blocked:', command: ASK, until: /^403 block/ },
  {
    says: '## Why\n\nA visitor reads a short reference on the block page, such as `09a6-b6ba`. It finds the request:',
    command: 'npm run gatehouse -- why SHORT',
    until: /Decided by userAgent:badbot/,
  },
];

/** The part of the page that the test makes again. */
export async function rulesWritten(facts: StackFacts, stateDir: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-transcript-'));
  const parts: string[] = [];
  let reference = '';
  try {
    for (const { says, command, until } of steps) {
      const real = (): string =>
        command
          .replaceAll('http://127.0.0.1:8800', facts.edgeUrl)
          .replace('npm run gatehouse --', `node ${resolve('src/cli/gatehouse.ts')} --text --state '${stateDir}'`)
          .replace('REFERENCE', reference)
          .replace('SHORT', `${reference.slice(4, 8)}-${reference.slice(-4)}`);
      // What a step waits for is printed by the bot's next request, or once the log has the last one.
      const output = await eventually(
        () => run(real(), folder),
        (text) => until.test(text),
      );
      reference = /([0-9a-f-]{36})$/.exec(output.trim())?.[1] ?? reference;
      parts.push(
        ...(says === '' ? [] : [`${says}\n`]),
        asWritten(command.replace('SHORT', '09a6-b6ba'), secretless(output, facts)),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return parts.join('\n');
}

async function run(command: string, folder: string): Promise<string> {
  const env = { ...process.env, COLUMNS: '110' };
  try {
    return (await promisify(execFile)('bash', ['-c', command], { cwd: folder, env, timeout: 60_000 })).stdout;
  } catch (error) {
    return String((error as { stderr?: string }).stderr ?? error);
  }
}

export function asWritten(command: string, output: string): string {
  return `\`\`\`text\n$ ${command}\n${output.trim()}\n\`\`\`\n`.replace('\n\n```', '\n```');
}

/** Without what differs from run to run, and without secrets. */
export function secretless(text: string, facts: StackFacts): string {
  const ports = ['8800', '8801', '8802'];
  const urls = [facts.edgeUrl, facts.serviceUrl, facts.originUrl].map((url) => new URL(url).port);
  return urls
    .reduce((all, port, at) => all.replaceAll(`:${port}`, `:${ports[at]}`), text)
    .replaceAll(/#link=[\w-]+/g, '#link=…')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'REFERENCE')
    .replaceAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'TIME')
    .replaceAll(/\b(inst|site)_[\w-]+/g, '$1_…')
    .replaceAll(/ruleset version \d+|version \d+/g, (words) => words.replace(/\d+/, 'N'))
    .replaceAll(/added \d+ packages in .*/g, 'added … packages');
}
