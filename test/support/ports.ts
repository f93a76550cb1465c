/** Free ports in a row, for a stack that a test starts as a command. */
import { createServer } from 'node:net';

/** Below the range that the kernel uses for outgoing connections. */
const PORT_FIRST = 20_000;
const PORT_COUNT = 12_000;
/** Edge, service, origin. */
const STACK_PORTS = 3;
const ATTEMPTS = 20;

/** A random place in the range, because several stacks start at once. */
export function somePortBase(): number {
  return PORT_FIRST + Math.floor(Math.random() * PORT_COUNT);
}

export async function freePortBase(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const base = somePortBase();
    const ports = Array.from({ length: STACK_PORTS }, (_, offset) => base + offset);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return base;
  }
  throw new Error('No three free ports in a row');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
