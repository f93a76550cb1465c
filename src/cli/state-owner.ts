/**
 * `owner.json`: the process that has a state directory. Two stacks, or a stack and a command, would open the same SQLite
 * files. The file names a process, so it ends with it. A stack that is killed with SIGKILL cannot end its workerd
 * processes, and they keep the database files open: the next owner ends them. Processes are found in /proc; on systems
 * without it, nothing happens.
 */
import { existsSync, linkSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { OWNER_FILE, StateError, damaged, onDisk } from './state-files.ts';

/** What the owner does. A command ends by itself. */
export type Task = 'stack' | 'command';

const owner = z.object({
  pid: z.number(),
  started: z.nullable(z.string()),
  task: z._default(z.enum(['stack', 'command']), 'stack'),
  /** Its workerd processes, once they run. */
  runtimes: z._default(z.array(z.number()), []),
});
export type Owner = z.infer<typeof owner>;

export class StateBusyError extends StateError {
  readonly task: Task;
  constructor(dir: string, { pid, task }: Owner) {
    super(
      task === 'stack'
        ? `A running stack uses ${dir} (process ${pid}). Stop it, or choose another directory with --state.`
        : `A command works on ${dir} (process ${pid}). Try again when it has ended.`,
    );
    this.task = task;
  }
}

/**
 * What the file says, whether that process still runs or not. `overDamaged`: a damaged file says nothing.
 * @throws StateError when it is damaged.
 */
export function writtenOwner(dir: string, overDamaged = false): Owner | null {
  return readOwner(join(dir, OWNER_FILE), dir, overDamaged);
}

export function isLive({ pid, started }: Owner): boolean {
  return isRunning(pid) && started === startOf(pid);
}

/**
 * Makes this process the owner. Of several that try at the same time, one succeeds. `overDamaged`: replaces a file that
 * describes nobody.
 * @throws StateBusyError when a running process is the owner.
 */
export function becomeOwner(dir: string, task: Task, overDamaged: boolean): void {
  const path = join(dir, OWNER_FILE);
  const draft = draftOf(path);
  onDisk(path, () => {
    writeFileSync(draft, textOf(task, []), { mode: 0o600 });
    try {
      // A link is made once, and with its content. After each that fails, somebody else has made one or removed one.
      while (!isLinked(draft, path)) {
        const found = readOwner(path, dir, overDamaged);
        if (found !== null && isLive(found)) throw new StateBusyError(dir, found);
        const aside = `${draft}.0`;
        // Only one process moves the file away. If it was replaced since it was read, it moves back.
        if (!isMoved(path, aside)) continue;
        const moved = readOwner(aside, dir, overDamaged);
        if (moved !== null && isLive(moved)) isLinked(aside, path);
        rmSync(aside, { force: true });
      }
    } finally {
      rmSync(draft, { force: true });
    }
  });
}

/** Lets the next owner end these processes, should this one be killed. */
export function keepRuntimes(dir: string, task: Task, runtimes: readonly number[]): void {
  const path = join(dir, OWNER_FILE);
  const draft = draftOf(path);
  onDisk(path, () => {
    writeFileSync(draft, textOf(task, runtimes), { mode: 0o600 });
    renameSync(draft, path);
  });
}

function draftOf(path: string): string {
  return `${path}.${process.pid}`;
}

function textOf(task: Task, runtimes: readonly number[]): string {
  const mine: Owner = { pid: process.pid, started: startOf(process.pid), task, runtimes: [...runtimes] };
  return JSON.stringify(mine);
}

function readOwner(path: string, dir: string, overDamaged: boolean): Owner | null {
  if (!existsSync(path)) return null;
  const source = onDisk(path, () => {
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (isCode(error, 'ENOENT')) return null;
      throw error;
    }
  });
  if (source === null) return null;
  try {
    return owner.parse(JSON.parse(source));
  } catch {
    if (overDamaged) return null;
    throw damaged(path, dir);
  }
}

function isLinked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function isMoved(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

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
