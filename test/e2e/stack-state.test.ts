// A stack of its own: each stack here starts on a state directory that a test has made.
/**
 * What a stack and commands find in a state directory: files that do not belong together are refused before anything is
 * served, an unfinished first start is continued, and no two processes open the databases.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OperatorError } from '../../src/cli/failure.ts';
import { isRunning } from '../../src/cli/state-owner.ts';
import type { Seed } from '../../src/cli/state.ts';
import { freePortBase } from '../support/ports.ts';
import { eventually, manage, rulesLoaded, startTestStack } from '../support/stack.ts';

let made: string;
let copy: string;

beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), 'gatehouse-made-'));
  copy = `${made}-copy`;
  const stack = await startTestStack({ stateDir: made });
  await stack.stop();
});
afterAll(() => {
  for (const dir of [made, copy]) rmSync(dir, { recursive: true, force: true });
});

function databaseFiles(): string[] {
  const folder = join(copy, 'service', 'd1', 'miniflare-D1DatabaseObject');
  const names = readdirSync(folder).filter((name) => !name.startsWith('metadata'));
  return names.map((name) => join(folder, name)).toSorted();
}

function inDatabase(statements: string): void {
  const database = new DatabaseSync(databaseFiles()[0] ?? '');
  database.exec(statements);
  database.close();
}

function copied(): void {
  rmSync(copy, { recursive: true, force: true });
  cpSync(made, copy, { recursive: true });
}

const mixtures: [string, () => void, RegExp][] = [
  [
    'the key of another stack',
    () => {
      const path = join(copy, 'secrets.json');
      const secrets = JSON.parse(readFileSync(path, 'utf8')) as object;
      writeFileSync(path, JSON.stringify({ ...secrets, masterKey: randomBytes(32).toString('base64url') }));
    },
    /secrets\.json does not belong to the database/,
  ],
  [
    'an empty database',
    () => databaseFiles().forEach((file) => rmSync(file)),
    /seed\.json does not belong to the database/,
  ],
  [
    'a database of a newer version',
    () => inDatabase("INSERT INTO d1_migrations (name) VALUES ('9999_future.sql')"),
    /made by a newer version, with 9999_future\.sql\./,
  ],
];

test.each(mixtures)('a stack does not start on %s, and says so', async (_, spoil, says) => {
  copied();
  spoil();
  const refusal = await startTestStack({ stateDir: copy }).then(
    (stack) => stack.stop(),
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(OperatorError);
  expect((refusal as Error).message).toMatch(says);
});

/** How far a first start had come, and what it had not made by then. */
const laterSteps: [string, string[]][] = [
  ['the API key', []],
  ['the site', ['api_keys', 'client_jwts', 'protect_instances']],
  ['the account', ['api_keys', 'client_jwts', 'protect_instances', 'sites']],
];

test.each(laterSteps)('a first start that was killed after it had made %s is continued', async (_, missing) => {
  copied();
  const before = JSON.parse(readFileSync(join(copy, 'seed.json'), 'utf8')) as Seed;
  rmSync(join(copy, 'seed.json'));
  inDatabase(missing.map((table) => `DELETE FROM ${table};`).join('\n'));
  const stack = await startTestStack({ stateDir: copy });
  try {
    expect(stack.accountId).toBe(before.accountId);
    expect(await manage<object[]>(stack, '/sites/get')).toMatchObject([{ siteKey: stack.siteKey }]);
    expect(await manage<object[]>(stack, '/protect/instances')).toMatchObject([{ id: stack.instanceId }]);
    await rulesLoaded(stack);
  } finally {
    await stack.stop();
  }
});

const gatehouse = (...words: string[]) =>
  promisify(execFile)(process.execPath, ['src/cli/gatehouse.ts', ...words, '--state', copy]);

async function emailAddresses(): Promise<string[]> {
  const { stdout } = await gatehouse('account', 'list');
  return (JSON.parse(stdout) as { ownerEmail: string }[]).map(({ ownerEmail }) => ownerEmail).toSorted();
}

test('commands that run at the same time on a stopped stack, and while it starts, all take effect', async () => {
  copied();
  const create = (name: string) => gatehouse('account', 'create', '--email', `${name}@example.com`);
  await Promise.all([create('a'), create('b'), create('c')]);
  const [stack] = await Promise.all([startTestStack({ stateDir: copy }), create('d'), create('e')]);
  await stack.stop();
  expect(await emailAddresses()).toEqual(['a', 'b', 'c', 'd', 'e', 'owner'].map((name) => `${name}@example.com`));
});

test('a command whose predecessor was killed in the middle has the directory for itself', async () => {
  copied();
  const killed = spawn(process.execPath, ['src/cli/gatehouse.ts', 'account', 'list', '--state', copy]);
  const ended = once(killed, 'exit');
  const read = () => JSON.parse(readFileSync(join(copy, 'owner.json'), 'utf8')) as { runtimes?: number[] };
  const { runtimes = [] } = await eventually(
    async () => (existsSync(join(copy, 'owner.json')) || killed.exitCode !== null ? read() : {}),
    (owner) => (owner.runtimes?.length ?? 0) > 0,
  );
  killed.kill('SIGKILL');
  await ended;
  expect(await emailAddresses()).toEqual(['owner@example.com']);
  expect(runtimes.filter(isRunning)).toEqual([]);
});

test('the commands that npm start prints work with the directory of its --state', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-printed-'));
  const state = join(folder, 'with a space');
  const flags = ['--port-base', String(await freePortBase()), '--state', state];
  const start = spawn(process.execPath, ['src/cli/start.ts', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let printed = '';
    start.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await eventually(
      async () => printed,
      (text) => text.includes('Press Ctrl-C'),
    );
    const lineWith = (text: string) => printed.split('\n').find((line) => line.includes(text)) ?? '';
    const shell = async (command: string) => (await promisify(execFile)('bash', ['-c', command])).stdout;
    const link = await shell(`${lineWith('npm run gatehouse')} --text`);
    expect(link).toContain('/console#link=');
    const key = lineWith('KEY=').replace('Try it:', '');
    const created = await shell(`${key}\n${lineWith('/protect/access-rules/create')}`);
    expect(JSON.parse(created)).toMatchObject({ created: 1 });
    const origin = /without the gate +(http\S+)/.exec(printed)?.[1] ?? '';
    const client = new URLSearchParams({ client: 'headless' });
    const view = await (await fetch(`${origin}/bots`, { method: 'POST', body: client })).text();
    const why = /npm run gatehouse -- why [^<]+/.exec(view)?.[0].replaceAll('&#39;', "'") ?? '';
    expect(why).toMatch(/ --state '.* a space'$/);
  } finally {
    start.kill('SIGTERM');
    await once(start, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
});
