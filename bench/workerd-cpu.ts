/**
 * Processor time of the workerd that this process started, to the microsecond: unlike the clock, other work on the
 * machine hardly slows it. Linux only; elsewhere it is not a number.
 */
import { readFileSync, readdirSync } from 'node:fs';

const NANOSECONDS_PER_MS = 1_000_000;

/** @returns a function that tells the milliseconds its process has used so far. */
export function workerdCpu(): () => number {
  const pid = childNamed('workerd');
  if (pid === null) return () => Number.NaN;
  return () => {
    let nanoseconds = 0;
    for (const task of readdirSync(`/proc/${pid}/task`)) {
      try {
        nanoseconds += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
      } catch {
        // A thread ended between the listing and the reading.
      }
    }
    return nanoseconds / NANOSECONDS_PER_MS;
  };
}

function childNamed(name: string): string | null {
  if (process.platform !== 'linux') return null;
  for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
      if (stat.includes(`(${name})`) && Number(parent) === process.pid) return pid;
    } catch {
      // The process ended between the listing and the reading.
    }
  }
  return null;
}
