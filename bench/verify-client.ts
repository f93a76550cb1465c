/**
 * The load of `npm run bench -- verify`, in a process of its own so that it can be kept off the processor
 * that is measured: keep-alive connections on bare sockets, each token sent once. Reads one JSON
 * request body a line from a file; without one it asks for `/health`. Prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const plan = JSON.parse(process.argv[2] ?? '') as {
  host: string;
  port: number;
  /** File of bodies for `/siteverify`, or how often to ask for `/health`. */
  bodies: string | number;
  connections: number;
};
const { bodies: source } = plan;
const bodies =
  typeof source === 'number'
    ? Array.from({ length: source }, () => '')
    : readFileSync(source, 'utf8').split('\n').filter(Boolean);
const requestLine = typeof source === 'number' ? 'GET /health' : 'POST /siteverify';
const wanted = typeof source === 'number' ? '"status":"ok"' : '"verified":true';
let next = 0;
let answered = 0;
let failed = 0;
const milliseconds: number[] = [];

function connection(): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    let sentAt = 0;
    const send = (): void => {
      const body = bodies[next++];
      if (body === undefined) {
        socket.end();
        return;
      }
      sentAt = performance.now();
      const head = `${requestLine} HTTP/1.1\r\nhost: ${plan.host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
      socket.write(head + body);
    };
    const socket = connect(plan.port, plan.host, send);
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const bodyAt = text.indexOf('\r\n\r\n') + 4;
      const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
      const complete = length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= bodyAt + Number(length);
      if (bodyAt === 3 || !complete) return;
      milliseconds.push(performance.now() - sentAt);
      if (text.startsWith('HTTP/1.1 200') && text.includes(wanted)) answered++;
      else failed++;
      text = '';
      send();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
}

const started = performance.now();
await Promise.all(Array.from({ length: plan.connections }, connection));
const seconds = (performance.now() - started) / 1000;
const sorted = milliseconds.toSorted((a, b) => a - b);
const percentile = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
process.stdout.write(
  `${JSON.stringify({ answered, failed, seconds, p50Ms: percentile(0.5), p99Ms: percentile(0.99) })}\n`,
);
