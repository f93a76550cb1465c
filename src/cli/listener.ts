/**
 * The socket that visitors of the local stack connect to. It does what Cloudflare does in front of a Worker: it sets
 * `CF-Connecting-IP` to the address of the socket, and removes headers that only the platform may send. In front of the
 * edge it is also the proxy that has `SIGNALS_SECRET`. Path, query, body, header order and upgrades pass through
 * unread. docs/decisions/0002-the-stacks-listener.md says why this is not a Worker.
 */
import { timingSafeEqual } from 'node:crypto';
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { escapeInvalidUtf8 } from '../bytes/escaped-bytes.ts';
import { header } from '../contract/edge/headers.ts';
import { SENT_WITHIN_MS } from '../logsink/verdict-batcher.ts';

/** `mf-*` headers control the simulator: `MF-CF-Blob` would replace the whole of `request.cf`. */
const platformHeader = /^(cf-connecting-ip|cf-connecting-ipv6|cf-pseudo-ipv4|true-client-ip|cf-ew-via|mf-.*)$/i;

const signalHeader = /^(x-client-(ip|asn|country|ja4|user-agent)|x-signals-secret)$/i;

/** Bytes of a longer user agent are not escaped: the request's headers would become too long for the Worker. */
const ESCAPED_AGENT_MAX_CHARS = 8192;

/** Cloudflare's limit for all headers of a request, and for those of a response. */
const HEADER_MAX_BYTES = 128 * 1024;
/** Longer than any client keeps an idle connection. Closing a connection while it is reused would lose a request. */
export const KEEP_ALIVE_MS = 120_000;
/** Below workerd's own idle limit, so that a connection is rarely reused while it closes. */
const UPSTREAM_IDLE_MS = 2000;

export interface Listener {
  /** Where requests go. While it is `null`, the Worker is down and connections get 503. */
  target: URL | null;
  /** The secret of the edge behind this listener, `null` in front of the service. */
  signalsSecret: string | null;
  /** How long ago the last request of the Worker ended; 0 while there is one, and infinite before the first. */
  quietMs(): number;
  /** Whether a request for a path that begins like this is under way. */
  isServing(prefix: string): boolean;
  close(): Promise<void>;
}

/** Addresses that a listener can have: this machine alone, or everybody who reaches one of its IPv4 addresses. */
export type ListenHost = '127.0.0.1' | '0.0.0.0';

/** `ended` is called with each request of the Worker when its response has ended. */
export async function listen(
  port: number,
  host: ListenHost = '127.0.0.1',
  ended: (request: IncomingMessage) => void = () => {},
): Promise<Listener> {
  const agent = new Agent({ keepAlive: true, timeout: UPSTREAM_IDLE_MS, maxSockets: Infinity });
  const sockets = new Set<Socket>();
  const open = new Set<IncomingMessage>();
  let lastEndMs = -Infinity;
  const server = createServer({
    maxHeaderSize: HEADER_MAX_BYTES,
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
  });
  const listener: Listener = {
    target: null,
    signalsSecret: null,
    quietMs: () => (open.size > 0 ? 0 : Date.now() - lastEndMs),
    isServing: (prefix) => [...open].some(({ url = '' }) => url.startsWith(prefix)),
    async close() {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
      await new Promise((done) => server.close(done));
    },
  };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (listener.target !== null) {
      open.add(request);
      response.once('close', () => {
        open.delete(request);
        lastEndMs = Date.now();
        ended(request);
      });
    }
    forward({ target: listener.target, signalsSecret: listener.signalsSecret, agent }, request, response);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    upgrade(listener, request, socket, head);
  });
  await bound(server, port, host);
  return listener;
}

async function bound(server: Server, port: number, host: ListenHost): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

/**
 * The raw header list, with the platform's headers set to what the platform sees. A client that sends the signals secret
 * sets the signals itself. For every other client, the address of the socket is signed here.
 */
function platformHeaders(request: IncomingMessage, signalsSecret: string | null): string[] {
  const address = request.socket.remoteAddress ?? '';
  const trusted = signalsSecret !== null && knowsSecret(request, signalsSecret);
  const headers: string[] = [];
  let cookieAt = -1;
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at] ?? '';
    const forged = platformHeader.test(name) || (signalsSecret !== null && !trusted && signalHeader.test(name));
    const value = request.rawHeaders[at + 1] ?? '';
    if (forged) continue;
    // The Worker would join the lines with a comma, which a cookie's value may have (RFC 9113 section 8.2.3).
    if (cookieAt >= 0 && /^cookie$/i.test(name)) headers[cookieAt] += `; ${value}`;
    else {
      headers.push(name, value);
      if (/^cookie$/i.test(name)) cookieAt = headers.length - 1;
    }
  }
  headers.push('CF-Connecting-IP', address);
  if (signalsSecret !== null && !trusted) headers.push(header.signalsSecret, signalsSecret);
  if (signalsSecret !== null && (!trusted || !(header.clientIp in request.headers))) {
    headers.push(header.clientIp, address);
  }
  if (signalsSecret !== null && !trusted) {
    const received = userAgentOf(request.rawHeaders);
    const escaped = escapeInvalidUtf8(received);
    if (escaped !== received && escaped.length <= ESCAPED_AGENT_MAX_CHARS)
      headers.push(header.clientUserAgent, escaped);
  }
  return headers;
}

/** Two headers become one value in the Worker. */
function userAgentOf(rawHeaders: readonly string[]): string {
  return rawHeaders.filter((_, at, all) => at % 2 === 1 && all[at - 1]?.toLowerCase() === 'user-agent').join(', ');
}

function knowsSecret(request: IncomingMessage, secret: string): boolean {
  const given = request.headers[header.signalsSecret];
  if (typeof given !== 'string' || given.length !== secret.length) return false;
  return timingSafeEqual(Buffer.from(given, 'latin1'), Buffer.from(secret, 'latin1'));
}

interface Upstream extends Pick<Listener, 'target' | 'signalsSecret'> {
  agent: Agent;
}

function forward(to: Upstream, request: IncomingMessage, response: ServerResponse, retried = false): void {
  const { target } = to;
  if (target === null) {
    request.resume();
    response
      .writeHead(503, { 'content-type': 'text/plain' })
      .end('The Worker behind this port is stopped. Start it and try again.\n');
    return;
  }
  // A kept connection may close while it is reused. A request without a body can be sent again. A request with a body
  // cannot, so it gets its own connection.
  const hasBody = 'content-length' in request.headers || 'transfer-encoding' in request.headers;
  const upstream = httpRequest({
    agent: hasBody || retried ? false : to.agent,
    host: target.hostname,
    port: target.port,
    method: request.method,
    path: request.url,
    headers: platformHeaders(request, to.signalsSecret),
    setHost: false,
    maxHeaderSize: HEADER_MAX_BYTES,
  });
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
    response.flushHeaders();
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  upstream.on('error', () => {
    // Read and drop the rest of a body: a client that is still sending would never read the response.
    if (hasBody) request.unpipe(upstream).resume();
    if (response.headersSent) response.destroy();
    else if (upstream.reusedSocket && !retried) forward(to, request, response, true);
    else
      response
        .writeHead(502, { 'content-type': 'text/plain' })
        .end('The Worker behind this port did not respond. See the log of the stack.\n');
  });
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}

/** A WebSocket: sends the head with the platform's headers set, then copies bytes in both directions. */
function upgrade(to: Omit<Upstream, 'agent'>, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { target } = to;
  if (target === null) {
    socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    return;
  }
  const upstream = httpRequest({
    host: target.hostname,
    port: target.port,
    method: request.method,
    path: request.url,
    headers: platformHeaders(request, to.signalsSecret),
    setHost: false,
    maxHeaderSize: HEADER_MAX_BYTES,
    agent: false,
  });
  upstream.on('upgrade', (answer, upstreamSocket, upstreamHead) => {
    socket.write(`${statusLine(answer)}${headerLines(answer.rawHeaders)}\r\n`);
    socket.write(upstreamHead);
    upstreamSocket.write(head);
    upstreamSocket.pipe(socket).pipe(upstreamSocket);
    upstreamSocket.on('error', () => socket.destroy());
    upstreamSocket.on('close', () => socket.destroy());
    socket.on('close', () => upstreamSocket.destroy());
  });
  upstream.on('response', (answer) => {
    // The upgrade is refused. The response ends with the connection, so its body needs no framing here.
    const kept = answer.rawHeaders.flatMap((name, at, all) =>
      at % 2 === 0 && !/^(connection|transfer-encoding|keep-alive)$/i.test(name) ? [name, all[at + 1] ?? ''] : [],
    );
    socket.write(`${statusLine(answer)}${headerLines(kept)}Connection: close\r\n\r\n`);
    answer.pipe(socket);
  });
  upstream.on('error', () => socket.destroy());
  socket.on('error', () => upstream.destroy());
  upstream.end();
}

function statusLine(answer: IncomingMessage): string {
  return `HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n`;
}

function headerLines(raw: readonly string[]): string {
  let lines = '';
  for (let at = 0; at < raw.length; at += 2) lines += `${raw[at]}: ${raw[at + 1]}\r\n`;
  return lines;
}

/** The edge's batcher waits first. The rest is for sending. */
const SENT_AFTER_MS = SENT_WITHIN_MS + 250;
/** A request that does not end holds up no stop for longer. */
const DRAIN_MAX_MS = 5000;
const POLL_MS = 25;

/**
 * What a stop of the stack waits for: refuses requests of visitors, until the service has the records of those before. The
 * edge sends them a moment after the responses, so they would be lost with its process.
 */
export async function drainVerdicts(edge: Listener, service: Listener): Promise<void> {
  edge.target = null;
  const untilMs = Date.now() + DRAIN_MAX_MS;
  while (Date.now() < untilMs && (edge.quietMs() < SENT_AFTER_MS || service.isServing('/edge/'))) {
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
}
