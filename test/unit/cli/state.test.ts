/** Ownership of a state directory: one running stack, from the moment it starts, and no stack that has ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StateBusyError } from '../../../src/cli/state-owner.ts';
import { StateDir } from '../../../src/cli/state.ts';

let dir: string;
let other: ChildProcess | undefined;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-state-'));
});
afterEach(() => {
  other?.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** Starts another process that claims the directory and is not ready yet. */
async function claimedElsewhere(): Promise<ChildProcess> {
  const claim = `
    const { StateDir } = await import('./src/cli/state.ts');
    new StateDir(${JSON.stringify(dir)}).claim(false);
    process.stdout.write('claimed');
    setInterval(() => {}, 1000);
  `;
  other = spawn(process.execPath, ['--input-type=module', '-e', claim], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(other.stdout!, 'data');
  return other;
}

test('a stack owns its directory before it is ready', async () => {
  await claimedElsewhere();
  expect(() => new StateDir(dir).claim(true)).toThrow(StateBusyError);
  expect(existsSync(join(dir, 'owner.json'))).toBe(true);
  expect(new StateDir(dir).control()).toBeNull();
});

test('a directory is free when its owner was killed', async () => {
  const owner = await claimedElsewhere();
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  expect(() => new StateDir(dir).claim(false)).not.toThrow();
});

test('a process with the id of a former owner does not own the directory', () => {
  new StateDir(dir).claim(false);
  const owner = JSON.parse(readFileSync(join(dir, 'owner.json'), 'utf8')) as object;
  // As after a restart of a container: the same process id, another process.
  writeFileSync(join(dir, 'owner.json'), JSON.stringify({ ...owner, started: '1' }));
  expect(() => new StateDir(dir).claim(false)).not.toThrow();
});

test('a released directory has no owner', () => {
  const state = new StateDir(dir);
  state.claim(false);
  state.release();
  expect(existsSync(join(dir, 'owner.json'))).toBe(false);
});

test('of many processes that replace a killed owner at the same time, one owns the directory', async () => {
  const killed = await claimedElsewhere();
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const claim = `
    const { StateDir } = await import('./src/cli/state.ts');
    let says = 'owned';
    try { new StateDir(${JSON.stringify(dir)}).claim(false); } catch (error) { says = error.message; }
    process.stdout.write(says);
    await new Promise((end) => process.stdin.on('end', end).resume());
  `;
  const rivals = Array.from({ length: 6 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', claim], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const said = await Promise.all(rivals.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])));
  for (const { stdin } of rivals) stdin.end();
  expect(said.filter((text) => text === 'owned')).toHaveLength(1);
  expect(said.filter((text) => text.startsWith(`A running stack uses ${dir} (process `))).toHaveLength(5);
});

test('a stack waits for a command that has its directory, and a command for another one', async () => {
  const command = new StateDir(dir);
  await command.claimOrReach('command');
  const waiting = Promise.all([
    new StateDir(dir).claimOrReach('command').then(() => new StateDir(dir).release()),
    new StateDir(dir).claimOrReach('command').then(() => new StateDir(dir).release()),
  ]);
  expect(() => new StateDir(dir).claim(false)).toThrow(`A command works on ${dir} (process ${process.pid}).`);
  command.release();
  await waiting;
  expect(existsSync(join(dir, 'owner.json'))).toBe(false);
});
