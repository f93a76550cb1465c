/**
 * The site behind the gate in the local stack: a small shop, and paths that show exactly what reached it. `/echo*`
 * returns the request, and `/hits` counts requests by path, so that a test can check that the origin is called once.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { KEEP_ALIVE_MS } from '../listener.ts';
import type { Gate } from './bots-page.ts';
import { apiAnswer, Shop } from './shop.ts';

/** Between two events of `/sse`: short enough for a test, long enough to see streaming. */
const SSE_INTERVAL_MS = 200;
/** Ends a stream that no client closes. */
const SSE_EVENTS_MAX = 300;
const HITS_PATHS_MAX = 10_000;
const WS_MESSAGE_MAX_BYTES = 16 * 1024 * 1024;

export interface DemoOrigin {
  url: string;
  close(): Promise<void>;
}

/** `gate`: the one in front of it, for the page that sends requests through it. */
export async function startDemoOrigin(port: number, gate: Gate | null = null): Promise<DemoOrigin> {
  const shop = new Shop(gate);
  const hits = new Map<string, number>();
  const sockets = new Set<Socket>();
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const path = pathOf(request);
    // Reading the counter does not count, because tests read it between two hits.
    if (path !== '/hits') count(hits, path);
    respond(request, response, { path, hits, shop });
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });

  const webSockets = new WebSocketServer({ noServer: true, maxPayload: WS_MESSAGE_MAX_BYTES });
  server.on('upgrade', (request, socket, head) => {
    const path = pathOf(request);
    count(hits, path);
    if (path !== '/ws') {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('message', (data, isBinary) => webSocket.send(data, { binary: isBinary }));
      webSocket.on('error', () => webSocket.terminate());
    });
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

/** A new path replaces the oldest one. Tests ask about a path soon after they visit it. */
function count(hits: Map<string, number>, path: string): void {
  hits.set(path, (hits.get(path) ?? 0) + 1);
  if (hits.size > HITS_PATHS_MAX) hits.delete(hits.keys().next().value ?? '');
}

/** Everything before the first `?`, byte for byte. */
function pathOf(request: IncomingMessage): string {
  const url = request.url ?? '/';
  const mark = url.indexOf('?');
  return mark === -1 ? url : url.slice(0, mark);
}

interface Site {
  path: string;
  hits: Map<string, number>;
  shop: Shop;
}

function respond(request: IncomingMessage, response: ServerResponse, { path, hits, shop }: Site): void {
  if (path === '/hits') {
    request.resume();
    json(response, 200, Object.fromEntries(hits));
  } else if (path === '/sse') {
    request.resume();
    streamEvents(response);
  } else if (path.startsWith('/echo')) {
    echo(request, response, path);
  } else if (path.startsWith('/api/')) {
    api(request, response, path);
  } else if (path === '/favicon.ico') {
    // Browsers with a window request it on their own and report an error when it is missing.
    request.resume();
    response.writeHead(204).end();
  } else if (path === '/redirect') {
    request.resume();
    response.writeHead(302, { location: '/echo/redirected' }).end();
  } else {
    shop.respond(request, response).catch(() => response.destroy());
  }
}

/** The whole request as JSON. The body is hashed while it streams and never kept. */
function echo(request: IncomingMessage, response: ServerResponse, path: string): void {
  const hash = createHash('sha256');
  let bodyLength = 0;
  request.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    bodyLength += chunk.length;
  });
  request.on('end', () => {
    const mark = (request.url ?? '').indexOf('?');
    json(response, 200, {
      method: request.method,
      path,
      query: mark === -1 ? '' : (request.url ?? '').slice(mark + 1),
      headers: request.headers,
      bodyLength,
      bodySha256: hash.digest('hex'),
    });
  });
}

function api(request: IncomingMessage, response: ServerResponse, path: string): void {
  request.resume();
  request.on('end', () => {
    const query = new URLSearchParams((request.url ?? '').slice(path.length + 1));
    json(response, 200, apiAnswer(path, query) ?? { ok: true, method: request.method, path });
  });
}

function streamEvents(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  let sent = 0;
  const timer = setInterval(() => {
    sent += 1;
    response.write(`id: ${sent}\ndata: ${JSON.stringify({ tick: sent })}\n\n`);
    if (sent === SSE_EVENTS_MAX) response.end();
  }, SSE_INTERVAL_MS);
  response.on('close', () => clearInterval(timer));
  response.write(': open\n\n');
}

function json(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, 'application/json', `${JSON.stringify(value)}\n`);
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}
