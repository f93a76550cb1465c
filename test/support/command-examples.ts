/**
 * The example of every command, run in the order of the table on a stack that has what they need. docs/cli.md has what
 * they print, and a test runs them again.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { commandTable } from '../../src/cli/command-table.ts';
import { runInStack } from '../../src/cli/control.ts';
import { StateDir } from '../../src/cli/state.ts';
import type { Stack } from '../../src/cli/stack.ts';
import type { ExampleHosts } from './example-hosts.ts';
import { eventually } from './eventually.ts';
import { exampleTraffic } from './example-traffic.ts';
import { gatehouse, type Ran } from './gatehouse.ts';
import { manage } from './manage.ts';
import { stackNow } from './clock.ts';

/** Wide enough for every table, and narrow enough for a page. */
const COLUMNS = 110;

const scrapers = { name: 'slow-scrapers', when: 'path startsWith "/products"' };
/** The example of `policies update` enforces it. */
const policy = { ...scrapers, then: { action: 'challenge' }, mode: 'monitor' };
const limit = { name: 'log-ins', key: ['ip'], count: 5, windowSeconds: 60 };
const limited = { name: 'log-in', when: 'path equals "/login"', then: { action: 'limit', limit: 'log-ins' } };

const files: Readonly<Record<string, string>> = {
  'blocklist.csv': 'type,value\nipMask,203.0.113.0/24\nasn,64500\n',
  'networks.csv': 'type,value\nipMask,198.51.100.0/24\nasn,64499\n',
  'offices.txt': '9.9.9.0/24\n149.112.112.0/24\n',
  'set.json': JSON.stringify({ policies: [policy, limited], limits: [limit] }),
  'limits.json': JSON.stringify({
    limits: [{ ...limit, name: 'searches', then: 'challenge' }],
    policies: [
      { name: 'count-searches', when: 'path startsWith "/search"', then: { action: 'limit', limit: 'searches' } },
    ],
  }),
  'strict.json': JSON.stringify({ policies: [{ ...scrapers, then: { action: 'block' } }, limited], limits: [limit] }),
  'rules.txt': 'http.host eq "a.example"\nssl\n',
  'gatehouse.yaml': 'version: 1\n',
};

/** What examples write or read, in a folder of their own. */
const FILE_NAME = /^(?:verdict-log|[\w-]+\.(?:csv|json|txt|yaml))$/;
/** A list is read in one of so many scheduled runs. */
const RUNS_FOR_ALL_LISTS = 6;
const GPTBOT = 'https://openai.com/gptbot.json';

/** By the command: the code with which its example ends, where that is not 0. */
export const exampleExitCodes: Readonly<Record<string, number>> = {
  // Something differs.
  plan: 2,
};

export interface Example {
  name: string;
  /** Standard output and standard error. */
  ran: Ran;
}

/** `hosts`: whose variables the stack was started with. */
export async function runExamples(stack: Stack, hosts: ExampleHosts): Promise<Example[]> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-examples-'));
  const values = new Map<string, string>();
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
    await prepare(stack, values);
    const examples: Example[] = [];
    for (const name of Object.keys(commandTable)) {
      await before(name, { stack, hosts, values, dir });
      const ran = await runExample(name, stack, values, dir);
      examples.push({ name, ran: withoutPlaces(ran, stack, dir) });
      await after(name, stack, values);
    }
    return examples;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function runExample(name: string, stack: Stack, values: Map<string, string>, dir: string): Promise<Ran> {
  const [typed = '', input] = (commandTable[name]?.example ?? '').split(' < ');
  const words = wordsOf(typed).map((word) => {
    const value = values.get(word) ?? word;
    return FILE_NAME.test(word) ? join(dir, word) : value;
  });
  const end = new AbortController();
  const isLogin = name === 'login' || name === 'logout';
  return gatehouse(words, {
    ...(isLogin ? {} : { state: stack.stateDir }),
    ...(input === undefined ? {} : { stdin: stack.apiKey }),
    env: { NO_COLOR: '1', XDG_CONFIG_HOME: dir },
    columns: COLUMNS,
    signal: end.signal,
    // `tail` shows what is there already, and then waits.
    onOutput: () => end.abort(),
  });
}

/** As a shell reads a line. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain!,
  );
}

/** A rule, a policy and some minutes of traffic, and what the publishers of networks have. */
async function prepare(stack: Stack, values: Map<string, string>): Promise<void> {
  await manage(stack, '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: 'badbot', verdict: 'block' }],
  });
  await manage(stack, '/protect/policies/set', { policies: [policy] });
  const records = exampleTraffic(stack, stackNow() - 300_000);
  await fetch(`${stack.serviceUrl}/edge/v1/verdicts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.clientJwt}`, 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
  });
  await eventually(
    () => manage<{ total: number }>(stack, '/protect/verdicts', { limit: 1, requestPath: '/products' }),
    ({ total }) => total === 10,
  );
  for (let run = 0; run < RUNS_FOR_ALL_LISTS; run += 1) await stack.runScheduled();
  values.set('REFERENCE', records.findLast(({ decision }) => decision === 'block')?.request_id ?? '');
  values.set('NAME', policy.name);
  values.set('https://gatehouse.example.com', stack.serviceUrl);
}

interface Place {
  stack: Stack;
  hosts: ExampleHosts;
  values: Map<string, string>;
  dir: string;
}

async function before(name: string, { stack, hosts, values, dir }: Place): Promise<void> {
  if (name === 'rules rollback') {
    const { version } = await manage<{ version: number }>(stack, '/protect/access-rules/history', { limit: 1 });
    values.set('VERSION', String(version - 1));
  }
  if (name === 'plan') {
    const { output } = await gatehouse(['export'], { state: stack.stateDir });
    writeFileSync(join(dir, 'gatehouse.yaml'), withTwoRules(output));
  }
  if (name === 'lists refresh') {
    const url = 'https://www.spamhaus.org/drop/drop.txt';
    await manage(stack, '/protect/lists/create', { name: 'spamhaus-drop', url, verdict: 'block' });
    // The service reads a new list at its next scheduled run, and refuses a second reading meanwhile.
    await stack.runScheduled();
    await eventually(
      () => manage<{ lists: { name: string; state: string }[] }>(stack, '/protect/lists'),
      ({ lists }) => lists.find((list) => list.name === 'spamhaus-drop')?.state !== 'new',
    );
  }
  if (name === 'bots read') hosts.replaceNetworks(GPTBOT);
  if (name === 'bots accept') {
    await stack.runScheduled();
    await eventually(
      () => manage<{ lists: { url: string; waitsForAccept: boolean }[] }>(stack, '/protect/bots/lists'),
      ({ lists }) => lists.some(({ url, waitsForAccept }) => url === GPTBOT && waitsForAccept),
    );
  }
}

/** The exported file with two rules that the service does not have. */
function withTwoRules(exported: string): string {
  const file = parse(exported) as { instances: { rules?: object[] }[] };
  const [instance] = file.instances;
  instance!.rules = [
    ...(instance!.rules ?? []),
    { type: 'countryCode', value: 'NO', verdict: 'challenge' },
    { type: 'asn', value: '64511', verdict: 'block' },
  ];
  return stringify(file);
}

async function after(name: string, stack: Stack, values: Map<string, string>): Promise<void> {
  const state = new StateDir(stack.stateDir).control();
  if (state === null) throw new Error('The stack is gone');
  const newest = async (words: string[]): Promise<Record<string, string>> =>
    (JSON.parse((await runInStack(state, words)).output) as Record<string, string>[]).at(-1) ?? {};
  const account = values.get('ACCOUNT') ?? '';
  if (name === 'account create') values.set('ACCOUNT', (await newest(['account', 'list']))['id'] ?? '');
  if (name === 'account disable') await runInStack(state, ['account', 'enable', account]);
  if (name === 'site create')
    values.set('SITE_KEY', (await newest(['site', 'list', '--account', account]))['siteKey'] ?? '');
  if (name === 'key create') values.set('KEY_ID', (await newest(['key', 'list', '--account', account]))['id'] ?? '');
  if (name === 'alerts add') {
    const { channels } = await manage<{ channels: { id: string }[] }>(stack, '/alerts/channels');
    values.set('CHANNEL', channels.at(-1)?.id ?? '');
  }
}

/** Names of this machine as a reader has them, and of a secret its first characters only. */
function withoutPlaces(ran: Ran, stack: Stack, dir: string): Ran {
  const shown = (text: string): string =>
    text
      .replaceAll(` --state ${stack.stateDir}`, '')
      .replaceAll(stack.serviceUrl, 'https://gatehouse.example.com')
      .replaceAll(stack.edgeUrl, 'https://www.example.com')
      .replaceAll(new URL(stack.consoleUrl).origin, 'https://gatehouse.example.com')
      .replaceAll(/\blocalhost\b/g, 'www.example.com')
      .replaceAll(`${dir}/gatehouse/`, '/home/you/.config/gatehouse/')
      .replaceAll(`${dir}/`, '')
      .replaceAll(/\beyJ[\w-]+\.[\w.-]+/g, 'eyJhbGci…')
      .replaceAll(/\b(whsec_|secret_|link=)[\w+/=-]+/g, '$1…')
      .replaceAll(/[\w-]{37,}/g, (secret) => (/^[-─]+$/.test(secret) ? secret : `${secret.slice(0, 8)}…`));
  return { exitCode: ran.exitCode, output: shown(ran.output), errors: shown(ran.errors) };
}
