/**
 * `node bench/risk-record.ts tune|report [kind]`: drives browsers, curl and scripts against a page of our own with the real
 * protect script and writes what an edge would have told of them to `test/fixtures/risk/`. The two sets use
 * other variants of each client. With `DISPLAY` and a full `GATEHOUSE_CHROMIUM` it records a browser with a window too.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildClient } from '../scripts/build-client.ts';
import { telemetryReport } from '../src/contract/telemetry.ts';
import { clientHeadersOf } from '../src/edge/client-headers.ts';
import { clientsOf } from './risk-clients.ts';
import type { RecordedClient } from './risk-clients.ts';
import { recording } from './risk-replay.ts';
import type { RecordedSession } from './risk-replay.ts';

const BODY_MAX_BYTES = 16_384;
const page = (name: string): string => `<!doctype html><html lang="en"><meta charset="utf-8"><title>${name}</title>
<script src="/__protect/protect.js" defer></script><h1>${name}</h1><p>${'Some text to read. '.repeat(400)}</p>
<p><a id="next" href="/next">Next</a> <label>Name <input id="name"></label> <button id="send" type="button">Send</button></p>`;

/** Sessions by id; a client without a cookie gets a new one, as at the gate. */
class Recorder {
  readonly #script: string;
  #client: RecordedClient | null = null;
  #sessions = new Map<string, { session: RecordedSession; startedAt: number }>();
  #opened = 0;

  constructor(script: string) {
    this.#script = script;
  }

  begin(client: RecordedClient): void {
    this.#client = client;
    this.#sessions = new Map();
  }

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
    else response.setHeader('content-type', 'text/html').end(page(path));
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

const [set, only] = process.argv.slice(2);
if (set !== 'tune' && set !== 'report') throw new Error('Usage: node bench/risk-record.ts tune|report [kind]');
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
const sessions: RecordedSession[] = [];
const clients = await clientsOf(set);
for (const client of clients) {
  if (only !== undefined && client.kind !== only) continue;
  recorder.begin(client);
  // One after another: the recorder knows whose session a call is by whose turn it is.
  // oxlint-disable-next-line no-await-in-loop
  await client.drive(url);
  const own = recorder.end();
  sessions.push(...own);
  process.stdout.write(`${client.kind} ${client.variant}: ${own.length} sessions\n`);
}
await clients.at(-1)?.close();
server.close();
const folder = new URL('../test/fixtures/risk/', import.meta.url);
const file = new URL(`${set}.json`, folder);
mkdirSync(folder, { recursive: true });
if (only !== undefined) {
  // One kind anew, in the place of what was recorded of it.
  const others = recording.parse(JSON.parse(readFileSync(file, 'utf8'))).filter(({ kind }) => kind !== only);
  sessions.unshift(...others);
}
writeFileSync(file, `[\n${sessions.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
