/**
 * The example of every command, run in the order of the table on a stack that has what they need. docs/cli.md has what
 * they print, and a test runs them again.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandTable } from '../../src/cli/command-table.ts';
import { runInStack } from '../../src/cli/control.ts';
import { StateDir } from '../../src/cli/state.ts';
import type { Stack } from '../../src/cli/stack.ts';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { newEventId } from '../../src/logsink/event-id.ts';
import { eventually } from './eventually.ts';
import { gatehouse } from './gatehouse.ts';
import type { Ran } from './gatehouse.ts';
import { manage } from './manage.ts';
import { verdictRecordOf } from './verdict-record.ts';

/** Wide enough for every table, and narrow enough for a page. */
const COLUMNS = 110;

const policy = { name: 'slow-scrapers', when: 'path startsWith "/products"', then: { action: 'challenge' } };
const limit = { name: 'log-ins', key: ['ip'], count: 5, windowSeconds: 60 };
const limited = { name: 'log-in', when: 'path equals "/login"', then: { action: 'limit', limit: 'log-ins' } };

const files: Readonly<Record<string, string>> = {
  'blocklist.csv': 'type,value\nipMask,203.0.113.0/24\nasn,64500\n',
  'offices.txt': '9.9.9.0/24\n149.112.112.0/24\n',
  'set.json': JSON.stringify({ policies: [policy, limited], limits: [limit] }),
  'rules.txt': 'http.host eq "a.example"\nssl\n',
  'gatehouse.yaml': 'version: 1\n',
};

/** By the command: the code with which its example ends, where that is not 0. Each needs another machine. */
export const exampleExitCodes: Readonly<Record<string, number>> = {
  'lists refresh': 1,
  'bots accept': 1,
  'alerts test': 1,
};

export interface Example {
  name: string;
  /** Standard output and standard error. */
  ran: Ran;
}

export async function runExamples(stack: Stack): Promise<Example[]> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-examples-'));
  const values = new Map<string, string>();
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content);
    await prepare(stack, values);
    const examples: Example[] = [];
    for (const name of Object.keys(commandTable)) {
      await before(name, stack, values, dir);
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
    return Object.hasOwn(files, word) || word === 'verdict-log' || word.endsWith('.out') ? join(dir, word) : value;
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

/** Some minutes of traffic: people, a scraper that is challenged, and a bot that is blocked. */
async function prepare(stack: Stack, values: Map<string, string>): Promise<void> {
  const start = Date.now() - 300_000;
  const own = { site_key: stack.siteKey, host: 'www.example.com' };
  const kinds: Partial<VerdictRecord>[] = [
    { ip: '198.51.100.23', asn: 64_496, country: 'DE', request_path: '/' },
    {
      ip: '203.0.113.9',
      asn: 64_500,
      country: 'US',
      request_path: '/login',
      decision: 'block',
      status: 403,
      decided_by: 'userAgent:badbot',
      source: 'access-rule',
    },
    {
      ip: '192.0.2.77',
      asn: 64_499,
      country: 'FR',
      request_path: '/products',
      decision: 'challenge',
      status: 403,
      decided_by: 'risk:challenge',
      source: 'risk',
    },
  ];
  const records = Array.from({ length: 30 }, (_, at) => {
    const timestamp = start + at * 1000;
    // An edge uses one id for the request and its verdict.
    const id = newEventId(timestamp);
    const facts = { ...own, ...kinds[at % kinds.length], id, request_id: id, timestamp };
    return verdictRecordOf(stack.instanceId, facts);
  });
  await fetch(`${stack.serviceUrl}/edge/v1/verdicts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.clientJwt}`, 'content-type': 'application/json' },
    body: JSON.stringify({ records }),
  });
  await eventually(
    () => manage<{ total: number }>(stack, '/protect/verdicts', { limit: 1, requestPath: '/products' }),
    ({ total }) => total === 10,
  );
  values.set('REFERENCE', records[28]?.request_id ?? '');
  values.set('NAME', policy.name);
  values.set('https://gatehouse.example.com', stack.serviceUrl);
  await manage(stack, '/protect/policies/set', { policies: [policy, limited], limits: [limit] });
}

async function before(name: string, stack: Stack, values: Map<string, string>, dir: string): Promise<void> {
  if (name === 'rules rollback') {
    const { version } = await manage<{ version: number }>(stack, '/protect/access-rules/history', { limit: 1 });
    values.set('VERSION', String(version - 1));
  }
  if (name === 'plan') {
    const { output } = await gatehouse(['export'], { state: stack.stateDir });
    writeFileSync(join(dir, 'gatehouse.yaml'), output);
  }
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
      .replaceAll(stack.serviceUrl, 'https://gatehouse.example.com')
      .replaceAll(stack.edgeUrl, 'https://www.example.com')
      .replaceAll(new URL(stack.consoleUrl).origin, 'https://gatehouse.example.com')
      .replaceAll(`${dir}/gatehouse/`, '/home/you/.config/gatehouse/')
      .replaceAll(`${dir}/`, '')
      .replaceAll(/\beyJ[\w-]+\.[\w.-]+/g, 'eyJhbGci…')
      .replaceAll(/\b(whsec_|secret_|link=)[\w+/=-]+/g, '$1…')
      .replaceAll(/[\w-]{37,}/g, (secret) => (/^[-─]+$/.test(secret) ? secret : `${secret.slice(0, 8)}…`));
  return { exitCode: ran.exitCode, output: shown(ran.output), errors: shown(ran.errors) };
}
