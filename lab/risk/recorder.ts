/**
 * The server that recorded clients visit: the pages of `pages.ts` with the real protect script, and the gate's endpoints
 * for sessions and telemetry. It records what an edge reports of each call, and what the pages report.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod/mini';
import { environmentReport, telemetryReport } from '../../src/contract/edge/page-reports.ts';
import { clientHeadersOf, readHeaders } from '../../src/edge/request/header-facts.ts';
import { isSecureContext } from '../../src/risk/headers/request-facts.ts';
import type { RecordedClient } from './client.ts';
import { recordedPage, sight, type Sight } from './pages.ts';
import type { RecordedSession } from './recording.ts';

const sessionBody = z.object({ environment: z.optional(environmentReport) });
const BODY_MAX_BYTES = 16_384;
const JWT_SECONDS = 300;

/** Serves one client at a time. As at the gate, a client without a cookie gets a new session. */
export class Recorder {
  readonly #scripts: Readonly<Record<string, string>>;
  readonly #server: Server;
  #client: RecordedClient | null = null;
  #sessions = new Map<string, { session: RecordedSession; startedAtMs: number }>();
  #opened = 0;
  #sight: Sight | null = null;

  /** `scripts`: the protect script and what it loads, by file name. */
  constructor(scripts: Readonly<Record<string, string>>) {
    this.#scripts = scripts;
    this.#server = createServer((request, response) => {
      this.#respond(request, response).catch((error: unknown) => {
        process.stderr.write(`${String(error)}\n`);
        response.destroy();
      });
    });
  }

  /** @returns the address that clients visit. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
  }

  begin(client: RecordedClient): void {
    this.#client = client;
    this.#sessions = new Map();
    this.#sight = null;
  }

  end(): RecordedSession[] {
    return [...this.#sessions.values()].map(({ session }) => session);
  }

  /** Where the page's elements and the pointer were at last. */
  look = (): Sight | null => this.#sight;

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '/'] = (request.url ?? '').split('?', 1);
    const script = this.#scripts[path.slice('/__protect/'.length)];
    const body = request.method === 'POST' ? await text(request) : '';
    if (path.startsWith('/__protect/') && script !== undefined) {
      response.setHeader('content-type', 'text/javascript').end(script);
    } else if (path === '/__protect/session' && body.includes('"capabilities"') && !body.includes('"solution"')) {
      // The protect script sends its report with a solution, so it gets a task. This one takes no work.
      const challenge = { challenge: 'none', pow: { lane: 'wait', waitMs: 0 }, expiresAt: Date.now() + 60_000 };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(challenge));
    } else if (path === '/__protect/session') this.#recordCall(request, response, body);
    else if (path === '/__protect/telemetry') this.#recordReport(request, response, body);
    else if (path === '/sight') {
      this.#sight = sight.parse(JSON.parse(body));
      response.writeHead(204).end();
    } else if (path === '/favicon.ico') response.writeHead(404).end();
    else response.setHeader('content-type', 'text/html').end(recordedPage(path));
  }

  #recordCall(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { environment } = sessionBody.parse(JSON.parse(body));
    const { kind, variant, network } = this.#client!;
    const known = this.#sessionOf(request);
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const host = headers.get('host') ?? '';
    const id = known?.id ?? `r${++this.#opened}`;
    const found = known?.found ?? { session: { kind, variant, network, events: [] }, startedAtMs: Date.now() };
    this.#sessions.set(id, found);
    found.session.events.push({
      type: 'call',
      atMs: claimedTime(request) ?? Date.now() - found.startedAtMs,
      userAgent: headers.get('user-agent') ?? '',
      headers: clientHeadersOf(readHeaders({ method: 'POST', headers }, isSecureContext({ scheme: 'http', host }))),
      ...(environment && { environment }),
    });
    const exp = Math.floor(Date.now() / 1000) + JWT_SECONDS;
    const claims = Buffer.from(JSON.stringify({ exp })).toString('base64url');
    response.setHeader('set-cookie', `protect_session=${id}|x.${claims}.x; Path=/`);
    response.setHeader('content-type', 'application/json').end('{}');
  }

  #recordReport(request: IncomingMessage, response: ServerResponse, body: string): void {
    const known = this.#sessionOf(request);
    const report = telemetryReport.safeParse(JSON.parse(body));
    if (known && report.success) {
      const atMs = claimedTime(request) ?? Date.now() - known.found.startedAtMs;
      known.found.session.events.push({ type: 'report', atMs, report: report.data });
    } else process.stderr.write(`Not a report of a known session: ${body}\n`);
    response.writeHead(202).end();
  }

  #sessionOf(request: IncomingMessage) {
    const id = /protect_session=([^|%;]+)/.exec(request.headers.cookie ?? '')?.[1];
    const found = id === undefined ? undefined : this.#sessions.get(id);
    return id === undefined || found === undefined ? null : { id, found };
  }
}

/** Clients without a page do not wait for minutes to pass. They name the time of their call. */
function claimedTime(request: IncomingMessage): number | null {
  const given = request.headers['x-recorded-at-ms'];
  return typeof given === 'string' ? Number(given) : null;
}

async function text(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > BODY_MAX_BYTES) throw new Error('The body is too large');
  }
  return body;
}
