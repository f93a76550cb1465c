/** The process that `load.ts` starts: keep-alive connections on bare sockets. Prints a `LoadResult` as one line of JSON. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { LoadPlan, LoadResult } from './load.ts';
import { percentile } from './statistics.ts';

const { host, port, connections, requests, expected } = JSON.parse(process.argv[2] ?? '') as LoadPlan;
const nextRequest = 'file' in requests ? fromFile(requests.file) : again(requests);
const result: Pick<LoadResult, 'expected' | 'unexpected'> = { expected: 0, unexpected: 0 };
const times: number[] = [];

const startedMs = performance.now();
await Promise.all(Array.from({ length: connections }, connection));
const seconds = (performance.now() - startedMs) / 1000;
const [p50Ms, p99Ms] = [percentile(times, 0.5), percentile(times, 0.99)];
process.stdout.write(`${JSON.stringify({ ...result, seconds, p50Ms, p99Ms } satisfies LoadResult)}\n`);

function fromFile(path: string): () => Buffer | null {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  let next = 0;
  return () => (next < lines.length ? Buffer.from(JSON.parse(lines[next++]!) as string, 'latin1') : null);
}

function again(of: Exclude<LoadPlan['requests'], { file: string }>): () => Buffer | null {
  const request = Buffer.from(of.repeated, 'latin1');
  if ('durationMs' in of) {
    const deadlineMs = performance.now() + of.durationMs;
    return () => (performance.now() < deadlineMs ? request : null);
  }
  let left = of.times;
  return () => (left-- > 0 ? request : null);
}

function connection(): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    let sentMs = 0;
    const send = (): void => {
      const request = nextRequest();
      sentMs = performance.now();
      if (request === null) socket.end();
      else socket.write(request);
    };
    const socket = connect(port, host, send);
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const headEnd = text.indexOf('\r\n\r\n');
      if (headEnd === -1 || !isComplete(text, headEnd + 4)) return;
      times.push(performance.now() - sentMs);
      const isExpected = text.startsWith('HTTP/1.1 200') && text.includes(expected);
      result[isExpected ? 'expected' : 'unexpected']++;
      text = '';
      send();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
}

function isComplete(text: string, bodyAt: number): boolean {
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, bodyAt))?.[1];
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= bodyAt + Number(length);
}
