/**
 * `npm run bench -- lists [ENTRIES]`: a subscription of a million addresses behind the local stack. Prints how long the
 * first reading takes, and after 1 % of the list has changed, how long it takes from the end of the fetch until the
 * running edge enforces the change (target: at most 10 s). The floor is the same change in a list of 1,000 entries.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stack, startStack } from '../src/cli/stack.ts';
import { manage } from '../test/support/manage.ts';

const ENTRIES_DEFAULT = 1_000_000;
const FLOOR_ENTRIES = 1000;
/** The first address of each list. */
const FLOOR_FROM = 0xc800_0000;
const LARGE_FROM = 0x1400_0000;
/** Every seventh address is an entry; those that come are between them. */
const NEW_AT = 3;
const CHANGED_SHARE = 0.01;
const ENFORCED_WITHIN_MS = 120_000;
const POLL_MS = 20;
const QUIET_MS = 45_000;
const PORT_BASE = 25_060;

export async function run(args: readonly string[]): Promise<void> {
  const count = Number(args[0] ?? ENTRIES_DEFAULT);
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const publisher = await publish();
  const stack = await startStack({
    portBase: PORT_BASE,
    stateDir,
    quiet: true,
    fresh: true,
    // Only the calls of this program read lists.
    schedule: false,
    serviceVars: { BOT_STAND_INS: `lists.test=http://127.0.0.1:${publisher.port}` },
  });
  try {
    const floor = await measure(stack, publisher, 'floor', FLOOR_ENTRIES, FLOOR_FROM);
    const large = await measure(stack, publisher, 'large', count, LARGE_FROM);
    const timed = performance.now();
    await manage(stack, '/protect/lists/update', { name: 'large', mode: 'monitor' });
    await untilDecided(stack, address(LARGE_FROM + NEW_AT), false);
    const monitoredMs = Math.round(performance.now() - timed);
    console.table({
      'entries of the list': { value: large.entries },
      'first reading enforced, ms after the fetch': { value: large.firstMs },
      'entries that changed': { value: large.changed },
      'change enforced, ms after the fetch': {
        value: large.changeMs,
        'ratio to 1,000 entries': (large.changeMs / floor.changeMs).toFixed(1),
      },
      'the same with 1,000 entries, ms': { value: floor.changeMs },
      'the whole list monitored again, ms': { value: monitoredMs },
    });
  } finally {
    await stack.stop();
    publisher.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

interface Publisher {
  port: number;
  /** What is sent, and when the last of it was. */
  body: string;
  sentAt: number;
  close: () => void;
}

async function publish(): Promise<Publisher> {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain');
    response.on('finish', () => {
      made.sentAt = performance.now();
    });
    response.end(made.body);
  });
  const made: Publisher = { port: 0, body: '', sentAt: 0, close: () => server.close() };
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  made.port = (server.address() as AddressInfo).port;
  return made;
}

async function measure(stack: Stack, publisher: Publisher, name: string, count: number, from: number) {
  const changed = Math.max(1, Math.round(count * CHANGED_SHARE));
  publisher.body = addresses(from, count);
  const settings = { verdict: 'block', mode: 'enforce', intervalMinutes: 10_080 };
  await manage(stack, '/protect/lists/create', { name, url: `https://lists.test/${name}.txt`, ...settings });
  const entries = await refresh(stack, name);
  await untilDecided(stack, address(from + 7 * (count - 1)), true);
  const firstMs = Math.round(performance.now() - publisher.sentAt);
  await quiet();
  // As many go as come: the first ones, and new ones between the others.
  publisher.body = `${addresses(from + 7 * changed, count - changed)}${addresses(from + NEW_AT, changed)}`;
  await refresh(stack, name);
  await untilDecided(stack, address(from + NEW_AT + 7 * (changed - 1)), true);
  await untilDecided(stack, address(from), false);
  return { entries, firstMs, changed: 2 * changed, changeMs: Math.round(performance.now() - publisher.sentAt) };
}

async function refresh(stack: Stack, name: string): Promise<number> {
  const { isRead, list } = await manage<{ isRead: boolean; list: { entries: number; error: string | null } }>(
    stack,
    '/protect/lists/refresh',
    { name },
  );
  if (!isRead) throw new Error(`The list was not read: ${list.error}`);
  return list.entries;
}

/** Compiles that the first reading left behind are over. */
function quiet(): Promise<void> {
  return new Promise((wake) => setTimeout(wake, QUIET_MS));
}

/** Every seventh address, so that few of them are neighbours. */
function addresses(from: number, count: number): string {
  let text = '';
  for (let i = 0; i < count; i++) text += `${address(from + 7 * i)}\n`;
  return text;
}

function address(n: number): string {
  return `${n >>> 24}.${(n >>> 16) & 255}.${(n >>> 8) & 255}.${n & 255}`;
}

/** While visitors keep coming, as on a live site. */
async function untilDecided(stack: Stack, ip: string, isBlocked: boolean): Promise<void> {
  const started = performance.now();
  while (performance.now() - started < ENFORCED_WITHIN_MS) {
    const response = await fetch(`${stack.edgeUrl}/robots.txt`, {
      headers: { 'x-signals-secret': stack.signalsSecret, 'x-client-ip': ip, 'user-agent': 'bench' },
    });
    await response.arrayBuffer();
    if ((response.headers.get('x-protect-decision') === 'block') === isBlocked) return;
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
  throw new Error(`${ip} is ${isBlocked ? 'not ' : ''}blocked after ${ENFORCED_WITHIN_MS} ms`);
}
