/** Memory of a process that is in RAM, from `/proc`. Linux only. */
import { readFileSync } from 'node:fs';

const KIBIBYTE = 1024;

export function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kibibytes) * KIBIBYTE;
}
