/**
 * The load of a bench, in a process of its own so that it can be kept off the processor that is measured:
 * keep-alive connections on bare sockets, one request at a time on each. Prints one line of JSON.
 */
import { connect } from 'node:net';

interface Plan {
  host: string;
  port: number;
  /** The whole request head, blank line included. */
  request: string;
  connections: number;
  durationMs: number;
}

const plan = JSON.parse(process.argv[2] ?? '') as Plan;
const request = Buffer.from(plan.request, 'latin1');
const deadline = performance.now() + plan.durationMs;
let requests = 0;
let refused = 0;

function connection(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(plan.port, plan.host, () => socket.write(request));
    let text = '';
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      if (head === -1 || !isComplete(text, head + 4)) return;
      requests += 1;
      if (!text.startsWith('HTTP/1.1 200')) refused += 1;
      text = '';
      if (performance.now() < deadline) socket.write(request);
      else socket.end();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve());
  });
}

function isComplete(text: string, bodyAt: number): boolean {
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, bodyAt))?.[1];
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= bodyAt + Number(length);
}

const started = performance.now();
await Promise.all(Array.from({ length: plan.connections }, connection));
const seconds = (performance.now() - started) / 1000;
process.stdout.write(`${JSON.stringify({ requests, refused, seconds })}\n`);
