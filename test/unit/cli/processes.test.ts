/** Ending workerd processes that outlived their stack: an imitation is orphaned, and a process with a parent is not. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endOrphans, isRunning } from '../../../src/cli/state-owner.ts';
import { eventually } from '../../support/eventually.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gatehouse-processes-'));
  execFileSync('bash', ['-c', 'mkfifo serve'], { cwd: dir });
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Its command line reads as that of workerd. Nobody writes to the pipe, so it runs until it is ended. */
const IMITATION = 'exec -a workerd cat serve';

const looksLikeRuntime = (pid: number): Promise<string> =>
  eventually(
    async () => readFileSync(`/proc/${pid}/cmdline`, 'utf8'),
    (line) => line === 'workerd\0serve\0',
  );

test('an orphan has ended when the call returns, and one that has ended before is no error', async () => {
  const pid = Number(execFileSync('bash', ['-c', `(${IMITATION}) > /dev/null 2>&1 & echo $!`], { cwd: dir }));
  await looksLikeRuntime(pid);
  endOrphans([pid]);
  expect(isRunning(pid)).toBe(false);
  endOrphans([pid]);
});

test('a process whose stack runs is left alone', async () => {
  const child = spawn('bash', ['-c', IMITATION], { cwd: dir, stdio: 'ignore' });
  const ended = new Promise((done) => child.once('exit', done));
  await looksLikeRuntime(child.pid ?? 0);
  endOrphans([child.pid ?? 0]);
  expect(isRunning(child.pid ?? 0)).toBe(true);
  child.kill();
  await ended;
});
