/**
 * Writes docs/transcript.md: the whole way from a clone to an enforced rule, with the output of every command.
 * `node scripts/transcript.ts` clones this repository, installs, starts and runs everything for real. The test runs the
 * commands after the start again, and compares what they print.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StackFacts } from '../src/cli/state.ts';
import { eventually } from '../test/support/eventually.ts';
import { asWritten, rulesWritten, secretless } from './transcript/steps.ts';

const OUTPUT = 'docs/transcript.md';
const PORT_BASE = 8_970;

const home = mkdtempSync(join(tmpdir(), 'gatehouse-transcript-'));
const clone = join(home, 'gatehouse');
execFileSync('git', ['clone', '--quiet', '.', clone]);
const installed = execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: clone }).toString();
const npm = spawn('npm', ['start', '--silent', '--', '--port-base', String(PORT_BASE)], {
  cwd: clone,
  stdio: ['ignore', 'pipe', 'inherit'],
  detached: true,
});
try {
  let printed = '';
  npm.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  await eventually(
    async () => printed,
    (text) => text.includes('Press Ctrl-C'),
  );
  const facts = JSON.parse(readFileSync(join(clone, '.gatehouse/stack.json'), 'utf8')) as StackFacts;
  const added = installed.split('\n').filter((line) => line.startsWith('added '));
  const text = `# From a clone to a blocked bot

This page is for people who want to see the whole way before they try it. A script ran these commands
(\`node scripts/transcript.ts\`), and a test runs them again. References, times, keys and numbers of packages are
replaced. Next, put the gate in front of your own site: [tutorial.md](tutorial.md). The deployment in front of a real
site, step by step: [operations.md](operations.md#deployment).

![One minute: a bot is allowed, then challenged, then blocked by a rule, and the console says why](walk.webp)

## Install and start

${asWritten('npm ci', secretless(added.join('\n'), facts))}
The stack needs no account. It runs until Ctrl-C:

${asWritten('npm start', secretless(printed.slice(0, printed.indexOf('Press Ctrl-C')).trim(), facts).replaceAll(`${clone}/`, ''))}
${await rulesWritten(facts, join(clone, '.gatehouse'))}`;
  writeFileSync(OUTPUT, text);
} finally {
  if (npm.pid !== undefined && npm.exitCode === null) {
    const ended = new Promise((resolve) => npm.once('exit', resolve));
    process.kill(-npm.pid, 'SIGTERM');
    await ended;
  }
  rmSync(home, { recursive: true, force: true });
}
