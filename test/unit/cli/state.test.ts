/** Ownership of a state directory: one running stack, from the moment it starts, and no stack that has ended. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StateBusyError, StateDir } from '../../../src/cli/state.ts';

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
  expect(new StateDir(dir).isStarting()).toBe(true);
});

test('a directory is free when its owner was killed', async () => {
  const owner = await claimedElsewhere();
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  expect(new StateDir(dir).isStarting()).toBe(false);
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
