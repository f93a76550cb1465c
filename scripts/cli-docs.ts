/**
 * `node scripts/cli-docs.ts`: writes the commands of docs/cli.md from the table of commands, with what their examples
 * print on a stack of this machine. A check compares the page with the table, and a test runs the examples again.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandTable } from '../src/cli/command-table.ts';
import { startStack } from '../src/cli/stack.ts';
import { type Example, runExamples } from '../test/support/command-examples.ts';
import { startExampleHosts } from '../test/support/example-hosts.ts';
import { commandSection, END, START } from './cli-sections.ts';
import { freePortBase } from '../test/support/ports.ts';

const PAGE = 'docs/cli.md';

async function examples(): Promise<Example[]> {
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-cli-docs-'));
  const hosts = await startExampleHosts();
  const { serviceVars } = hosts;
  const stack = await startStack({ portBase: await freePortBase(), stateDir, quiet: true, serviceVars });
  try {
    return await runExamples(stack, hosts);
  } finally {
    await stack.stop();
    await hosts.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

const ran = new Map((await examples()).map((one) => [one.name, one.ran]));
const sections = Object.entries(commandTable).map(([name, entry]) => commandSection(name, entry, ran.get(name)));
const page = readFileSync(PAGE, 'utf8');
const [head = ''] = page.split(START);
const rest = page.split(END)[1] ?? '\n';
writeFileSync(PAGE, `${head}${START}\n\n${sections.join('\n')}\n${END}${rest}`);
execFileSync(process.execPath, ['scripts/format-markdown.ts'], { stdio: 'inherit' });
process.exit();
