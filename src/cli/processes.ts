/**
 * Finds running processes, and workerd processes that outlived their stack. A stack that is killed with SIGKILL cannot
 * end its workerd processes, and they keep the database files of its state directory open. The next stack on that
 * directory ends them. This reads /proc; on systems without it, nothing happens.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';

/** A killed process ends within milliseconds, unless a disk holds it. */
const ENDED_WITHIN_MS = 5000;
const ENDED_POLL_MS = 5;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/** The workerd processes this process has started. */
export function ownRuntimes(): number[] {
  const tasks = `/proc/${process.pid}/task`;
  if (!existsSync(tasks)) return [];
  return readdirSync(tasks)
    .flatMap((task) => (read(`${tasks}/${task}/children`) ?? '').trim().split(' '))
    .map(Number)
    .filter((pid) => pid > 0 && isRuntime(pid));
}

/** Whether a process runs. A zombie, which has ended but still has a process id, does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !/^.*\) Z/s.test(read(`/proc/${pid}/stat`) ?? '');
}

/** Start time of a process, which tells it from an earlier one with the same id. `null` without /proc. */
export function startOf(pid: number): string | null {
  return /^.*\) (?:\S+ ){19}(\d+)/s.exec(read(`/proc/${pid}/stat`) ?? '')?.[1] ?? null;
}

/**
 * Ends those of `pids` that are workerd without a Node parent, and waits until they have ended: one that is ending can
 * still make a file. Other processes may have these ids by now.
 */
export function endOrphans(pids: readonly number[]): void {
  const orphans = pids.filter((pid) => isRuntime(pid) && !isNode(parentOf(pid)));
  for (const pid of orphans) kill(pid);
  const untilMs = Date.now() + ENDED_WITHIN_MS;
  // A process that is ending loses its command line before it closes its files.
  while (orphans.some(isRunning) && Date.now() < untilMs) Atomics.wait(NEVER_WOKEN, 0, 0, ENDED_POLL_MS);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It ended by itself in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function isRuntime(pid: number): boolean {
  return (read(`/proc/${pid}/cmdline`) ?? '').includes('workerd\0serve\0');
}

function isNode(pid: number): boolean {
  return /(^|\/)node\0/.test(read(`/proc/${pid}/cmdline`) ?? '');
}

/** The parent is the second field after the name in brackets. */
function parentOf(pid: number): number {
  return Number(/^.*\) \S+ (\d+)/s.exec(read(`/proc/${pid}/stat`) ?? '')?.[1] ?? 0);
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process ended in the meantime.
    return null;
  }
}
