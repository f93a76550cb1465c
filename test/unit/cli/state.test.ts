/** Who owns a state directory: one living stack, from its first moment, and no dead one. */
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

/** Another process that claims the directory and then is busy starting. */
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

test('belongs to a stack before that has started anything', async () => {
  await claimedElsewhere();
  expect(() => new StateDir(dir).claim(true)).toThrow(StateBusyError);
  expect(existsSync(join(dir, 'owner.json'))).toBe(true);
  expect(new StateDir(dir).isStarting()).toBe(true);
});

test('is free again once its owner was killed', async () => {
  const owner = await claimedElsewhere();
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  expect(new StateDir(dir).isStarting()).toBe(false);
  expect(() => new StateDir(dir).claim(false)).not.toThrow();
});

test('is not held by a process that only has the number of one that died', () => {
  new StateDir(dir).claim(false);
  const owner = JSON.parse(readFileSync(join(dir, 'owner.json'), 'utf8')) as object;
  // As after a container's restart: the same number, another process.
  writeFileSync(join(dir, 'owner.json'), JSON.stringify({ ...owner, started: '1' }));
  expect(() => new StateDir(dir).claim(false)).not.toThrow();
});

test('is given back', () => {
  const state = new StateDir(dir);
  state.claim(false);
  state.release();
  expect(existsSync(join(dir, 'owner.json'))).toBe(false);
});
