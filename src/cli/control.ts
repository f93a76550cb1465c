/**
 * Lets the command line work on a running stack. A second process must not open the same SQLite files, so the command
 * goes to the process that has them open. The server listens on the loopback address and requires a random bearer
 * token, which is in a file that only its owner can read.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runCommand } from './database/commands.ts';
import type { CommandEnv } from './database/commands.ts';
import type { CommandResult } from './command-line.ts';
import { OperatorError } from './operator-error.ts';
import { ownRuntimes } from './processes.ts';
import type { ControlAddress } from './state.ts';

/** Enough for a command line. The CLI reads files itself and does not send them here. */
const BODY_MAX_BYTES = 64 * 1024;

export interface Control {
  address: ControlAddress;
  close(): Promise<void>;
}

/** `store` returns `null` while the service is stopped. */
export async function startControl(store: () => CommandEnv | null): Promise<Control> {
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

/** Runs a command inside the stack that owns the state directory. */
export async function runInStack(address: ControlAddress, args: readonly string[]): Promise<CommandResult> {
  const response = await fetch(address.url, {
    method: 'POST',
    headers: { authorization: `Bearer ${address.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(args),
  }).catch(() => {
    throw new OperatorError('The stack stopped while it ran the command. Run the command again.');
  });
  if (!response.ok)
    throw new OperatorError(
      `The running stack refused the command with status ${response.status}. Restart the stack and try again.`,
    );
  return (await response.json()) as CommandResult;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  token: string,
  store: () => CommandEnv | null,
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
  const env = store();
  const result: CommandResult =
    env === null
      ? { exitCode: 1, output: 'The service of this stack is stopped. Start it and try again.' }
      : await runCommand(args, env);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result));
}
