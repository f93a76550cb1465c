/**
 * Lets the command line work on a running stack. A second process must not open the same SQLite files, so the command
 * goes to the process that has them open. The server listens on the loopback address and requires a random bearer
 * token, which is in a file that only its owner can read.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import * as z from 'zod/mini';
import type { CommandResult } from './command-line.ts';
import { runCommand, type CommandEnv } from './database/commands.ts';
import { OperatorError } from './failure.ts';
import { ownRuntimes } from './state-owner.ts';
import type { ControlAddress } from './state.ts';

/** Enough for a command line. The CLI reads files itself and does not send them here. */
const BODY_MAX_BYTES = 64 * 1024;
const PROGRESS_EVERY_MS = 100;

export interface Control {
  address: ControlAddress;
  close(): Promise<void>;
}

/** `store` returns `null` while the service is stopped, or does not respond. */
export async function startControl(store: () => Promise<CommandEnv | null>): Promise<Control> {
  const token = randomBytes(32).toString('base64url');
  const server = createServer((request, response) => {
    // A kept connection could close while the next command is on its way.
    response.setHeader('connection', 'close');
    void serve(request, response, token, store).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: { pid: process.pid, url: `http://127.0.0.1:${port}`, token, runtimes: ownRuntimes() },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

const progressLine = z.object({ done: z.number(), total: z.number() });
const resultLine = z.object({ exitCode: z.number(), output: z.string() });

/** Runs a command inside the stack that owns the state directory. */
export async function runInStack(
  address: ControlAddress,
  args: readonly string[],
  seen: NonNullable<CommandEnv['seen']> = () => {},
): Promise<CommandResult> {
  const response = await fetch(address.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${address.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(args),
  }).catch(() => {
    throw stopped();
  });
  if (!response.ok)
    throw new OperatorError(
      `The running stack refused the command with status ${response.status}. Restart the stack and try again.`,
    );
  try {
    for await (const line of createInterface({ input: Readable.from(response.body ?? []) })) {
      const message: unknown = JSON.parse(line);
      const progress = progressLine.safeParse(message);
      if (!progress.success) return resultLine.parse(message);
      seen(progress.data.done, progress.data.total);
    }
  } catch {
    // A line that is cut off: the same as none.
  }
  throw stopped();
}

function stopped(): OperatorError {
  return new OperatorError('The stack stopped while it ran the command. Run the command again.');
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  store: () => Promise<CommandEnv | null>,
): Promise<void> {
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  if (request.method !== 'POST' || given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    response.writeHead(401).end();
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_MAX_BYTES) {
      response.writeHead(413).end();
      return;
    }
    chunks.push(chunk);
  }
  const args = JSON.parse(Buffer.concat(chunks).toString('utf8')) as string[];
  const env = await store();
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const result: CommandResult =
    env === null
      ? {
          exitCode: 1,
          output: 'The service of this stack is stopped, or does not respond. Restart the stack and try again.',
        }
      : await runCommand(args, { ...env, seen: progressTo(response) });
  response.end(`${JSON.stringify(result)}\n`);
}

/** A line for the command's progress, some times a second. */
function progressTo(response: ServerResponse): NonNullable<CommandEnv['seen']> {
  let sentMs = 0;
  return (done, total) => {
    if (Date.now() - sentMs < PROGRESS_EVERY_MS) return;
    sentMs = Date.now();
    response.write(`${JSON.stringify({ done, total })}\n`);
  };
}
