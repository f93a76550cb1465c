/** Sends requests from a process of its own, so that it can be kept off the processor that is measured. */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The processes that are measured run on this processor, everything else on the others. */
export const MEASURED_CPU = 0;
export const OTHER_CPUS = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : '0';

export interface LoadPlan {
  host: string;
  port: number;
  /** Keep-alive connections, with one request at a time on each. */
  connections: number;
  /** A file with one JSON-encoded request a line, each sent once; or one request, sent again and again. */
  requests: { file: string } | { repeated: string; times: number } | { repeated: string; durationMs: number };
  /** A response counts as expected when it is a 200 that contains this text. */
  expected: string;
}

export interface LoadResult {
  expected: number;
  unexpected: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
}

export function sendLoad(url: URL, plan: Omit<LoadPlan, 'host' | 'port'>): LoadResult {
  const whole: LoadPlan = { host: url.hostname, port: Number(url.port), ...plan };
  const client = ['-c', OTHER_CPUS, process.execPath, 'bench/measure/load-client.ts', JSON.stringify(whole)];
  const { stdout, stderr } = spawnSync('taskset', client, { encoding: 'utf8' });
  if (!stdout) throw new Error(`The load client failed: ${stderr}`);
  return JSON.parse(stdout) as LoadResult;
}

/** The text of an HTTP/1.1 request. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): string {
  const length: Record<string, string> = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}
