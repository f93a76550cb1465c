/**
 * Processor time of other processes, from `/proc`: unlike the clock, it hardly grows when something else uses the machine.
 * Linux only; elsewhere it is not a number.
 */
import { readFileSync, readdirSync } from 'node:fs';

/** The kernel counts a process's time in hundredths of a second. */
const TICK_MS = 10;
const NANOSECONDS_PER_MS = 1_000_000;

/** Process ids of the workerds that this process has started. */
export function workerdPids(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = statOf(pid);
      return stat !== null && stat.program.startsWith('workerd') && stat.parent === process.pid;
    });
}

/** Process ids of all that this process has started, and of all that those have. */
export function descendantPids(): number[] {
  if (process.platform !== 'linux') return [];
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
    if (stat !== null) parents.set(Number(name), stat.parent);
  }
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && (parent === process.pid || isOurs(parent));
  };
  return [...parents.keys()].filter(isOurs);
}

/** Milliseconds that these processes have used so far, in steps of 10 ms. For measurements of seconds. */
export function processorMs(pids: readonly number[]): number {
  if (pids.length === 0) return Number.NaN;
  return pids.reduce((sum, pid) => sum + (statOf(pid)?.ticks ?? 0) * TICK_MS, 0);
}

/** The same to the microsecond, without threads that have ended. For measurements of single calls. */
export function exactProcessorMs(pids: readonly number[]): number {
  if (pids.length === 0) return Number.NaN;
  const nanoseconds = pids.flatMap(threadNanoseconds).reduce((sum, used) => sum + used, 0);
  return nanoseconds / NANOSECONDS_PER_MS;
}

function threadNanoseconds(pid: number): number[] {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).map((thread) => {
    const text = readIfThere(`${folder}/${thread}/schedstat`);
    return text === null ? 0 : Number(text.split(' ')[0]);
  });
}

/** The program's name is in brackets and may contain spaces. After it, field 2 is the parent and 12 and 13 the time. */
function statOf(pid: number): { program: string; parent: number; ticks: number } | null {
  const text = readIfThere(`/proc/${pid}/stat`);
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const program = /\((.*)\)/s.exec(text)?.[1] ?? '';
  return { program, parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
}

/** `null`: the process or thread has ended since it was listed. */
function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
