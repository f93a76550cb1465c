/**
 * `node lab/risk/risk-record.ts tune|report [kind [part]]`: drives browsers, curl and scripts against pages of our own with the real
 * protect script and writes what an edge would have told of them to `test/fixtures/risk/`. The two sets use
 * other variants of each client. With `DISPLAY` and a full `GATEHOUSE_CHROMIUM` it records browsers with a window too
 * (docs/risk.md says how).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildClient } from '../../scripts/build-client.ts';
import { telemetryReport } from '../../src/contract/edge/telemetry.ts';
import { clientHeadersOf } from '../../src/edge/session/client-headers.ts';
import { clientsOf } from './clients.ts';
import type { RecordedClient } from './clients.ts';
import { recordedPage, sight } from './pages.ts';
import type { Sight } from './pages.ts';
import { recording } from './replay.ts';
import type { RecordedSession } from './replay.ts';

const BODY_MAX_BYTES = 16_384;
/** A busy machine starts a browser too late now and then. */
const ATTEMPTS = 2;

/** Sessions by id; a client without a cookie gets a new one, as at the gate. */
class Recorder {
  readonly #script: string;
  #client: RecordedClient | null = null;
  #sessions = new Map<string, { session: RecordedSession; startedAt: number }>();
  #opened = 0;
  #sight: Sight | null = null;

  constructor(script: string) {
    this.#script = script;
  }

  begin(client: RecordedClient): void {
    this.#client = client;
    this.#sessions = new Map();
    this.#sight = null;
  }

  /** What the page told last of its places. */
  look = (): Sight | null => this.#sight;

  end(): RecordedSession[] {
    return [...this.#sessions.values()].map(({ session }) => session);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '/';
    const body = request.method === 'POST' ? await text(request) : '';
    if (path === '/__protect/protect.js') {
      response.setHeader('content-type', 'text/javascript').end(this.#script);
    } else if (path === '/__protect/session') this.#call(request, response);
    else if (path === '/__protect/telemetry') this.#report(request, response, body);
    else if (path === '/sight') {
      this.#sight = sight.parse(JSON.parse(body));
      response.writeHead(204).end();
    } else if (path === '/favicon.ico') response.writeHead(404).end();
    else response.setHeader('content-type', 'text/html').end(recordedPage(path));
  }

  #call(request: IncomingMessage, response: ServerResponse): void {
    const client = this.#client!;
    const known = this.#sessionOf(request);
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const host = headers.get('host') ?? '';
    const id = known?.id ?? `r${++this.#opened}`;
    const found = known?.found ?? {
      session: { kind: client.kind, variant: client.variant, network: client.network, events: [] },
      startedAt: Date.now(),
    };
    this.#sessions.set(id, found);
    found.session.events.push({
      type: 'call',
      atMs: clock(request) ?? Date.now() - found.startedAt,
      userAgent: headers.get('user-agent') ?? '',
      headers: clientHeadersOf(headers, { scheme: 'http', host }),
    });
    const claims = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 300 })).toString('base64url');
    response.setHeader('set-cookie', `protect_session=${id}|x.${claims}.x; Path=/`);
    response.setHeader('content-type', 'application/json').end('{}');
  }

  #report(request: IncomingMessage, response: ServerResponse, body: string): void {
    const known = this.#sessionOf(request);
    const report = telemetryReport.safeParse(JSON.parse(body));
    if (known && report.success) {
      const atMs = clock(request) ?? Date.now() - known.found.startedAt;
      known.found.session.events.push({ type: 'report', atMs, report: report.data });
    } else process.stderr.write(`a report was not understood: ${body}\n`);
    response.writeHead(202).end();
  }

  #sessionOf(request: IncomingMessage) {
    const id = /protect_session=([^|%;]+)/.exec(request.headers.cookie ?? '')?.[1];
    const found = id === undefined ? undefined : this.#sessions.get(id);
    return id === undefined || found === undefined ? null : { id, found };
  }
}

/** Clients without a page do not wait for minutes to pass: they say when their call would come. */
function clock(request: IncomingMessage): number | null {
  const given = request.headers['x-recorded-at-ms'];
  return typeof given === 'string' ? Number(given) : null;
}

async function text(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > BODY_MAX_BYTES) throw new Error('too large');
  }
  return body;
}

async function recorded(client: RecordedClient, attempt = 1): Promise<RecordedSession[]> {
  recorder.begin(client);
  try {
    await client.drive(url);
    return recorder.end();
  } catch (error) {
    process.stderr.write(`${client.variant}: ${String(error)}\n`);
    return attempt === ATTEMPTS ? [] : recorded(client, attempt + 1);
  }
}

/** In the place of what was recorded of that client before; written at once, since recording all takes half an hour. */
function keep(client: RecordedClient, sessions: readonly RecordedSession[]): void {
  const known = existsSync(file) ? recording.parse(JSON.parse(readFileSync(file, 'utf8'))) : [];
  const others = known.filter(({ network }) => network !== client.network);
  const lines = [...others, ...sessions].map((one) => JSON.stringify(one));
  writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
}

const [set, only, part = '1/1'] = process.argv.slice(2);
if (set !== 'tune' && set !== 'report')
  throw new Error('Usage: node lab/risk/risk-record.ts tune|report [kind [part, as 1/3]]');
const assets = await buildClient();
const recorder = new Recorder(assets['protect.js']!.body);
const server = createServer((request, response) => {
  recorder.answer(request, response).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    response.destroy();
  });
});
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve);
});
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const folder = new URL('../test/fixtures/risk/', import.meta.url);
const file = new URL(`${set}.json`, folder);
mkdirSync(folder, { recursive: true });
// Every nth, so that several displays share the work.
const [nth, of] = part.split('/').map(Number) as [number, number];
const wanted = clientsOf(set, recorder.look).filter(({ kind }) => only === undefined || kind === only);
for (const client of wanted.filter((_, index) => index % of === nth - 1)) {
  // One after another: the recorder knows whose session a call is by whose turn it is.
  const own = await recorded(client);
  if (own.length > 0) keep(client, own);
  process.stdout.write(`${client.kind} ${client.variant}: ${own.length} sessions\n`);
}
server.close();
