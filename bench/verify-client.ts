/**
 * The load of `npm run bench -- verify`, in a process of its own so that it can be kept off the processor
 * that is measured: keep-alive connections on bare sockets, each token sent once. Reads one JSON
 * request body a line from a file; prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

const plan = JSON.parse(process.argv[2] ?? '') as { host: string; port: number; bodies: string; connections: number };
const bodies = readFileSync(plan.bodies, 'utf8').split('\n').filter(Boolean);
let next = 0;
let verified = 0;
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
      const head = `POST /siteverify HTTP/1.1\r\nhost: ${plan.host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
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
      if (text.startsWith('HTTP/1.1 200') && text.includes('"verified":true')) verified++;
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
  `${JSON.stringify({ verified, failed, seconds, p50Ms: percentile(0.5), p99Ms: percentile(0.99) })}\n`,
);
