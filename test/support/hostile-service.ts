/** A service of `/siteverify` that behaves as a test says: it hangs, drips, redirects, lies or floods. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from 'vitest';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export interface HostileService {
  readonly url: string;
  /** Bodies that it received, and the path of each request. */
  readonly bodies: Record<string, unknown>[];
  readonly paths: string[];
  /** Connections whose client went away before the response ended. */
  readonly abandoned: () => number;
  /** One for each request in turn; the last one for all that follow. */
  answers: Answer[];
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

export const hang: Answer = () => undefined;

/** Headers at once, then a byte now and then. */
export const drip: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.once('close', () => clearInterval(timer));
};

/** A body without end. */
export const flood: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const chunk = Buffer.alloc(64 * 1024, 0x20);
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};

export const cut: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"verified": true');
  setTimeout(() => response.destroy(), 10);
};

export function useHostileService(): HostileService {
  let closed = 0;
  const server = createServer((request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) closed += 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      service.bodies.push(JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>);
      service.paths.push(request.url ?? '');
      const { answers } = service;
      (answers.length > 1 ? answers.shift() : answers[0])?.(response, request);
    });
  });
  const service = { url: '', bodies: [], paths: [], abandoned: () => closed, answers: [] } as {
    -readonly [Field in keyof HostileService]: HostileService[Field];
  };
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    service.bodies.length = 0;
    service.paths.length = 0;
    closed = 0;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return service;
}
