/**
 * Stands in for the platform's API over HTTP: it keeps what is created, records every call, and can fail at any of them,
 * before or after the effect. Wrangler and the deployment reach it through `CLOUDFLARE_API_BASE_URL`.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Call, Refusal } from './call.ts';
import { loginRoutes } from './login-routes.ts';
import { storageRoutes } from './storage-routes.ts';
import { workerRoutes } from './worker-routes.ts';
import { type AccountState, newState, type PlatformState } from './account-state.ts';

export interface Recorded {
  method: string;
  path: string;
  isWrite: boolean;
}

interface Fault {
  /** Counted over all writes from now on, from 1. */
  atWrite: number;
  /** `from`: it and every later call, as when the deployer is killed. */
  when: 'before' | 'after' | 'from';
}

export const TOKEN = 'token-of-the-stand-in-0123456789abcdefghij';

export class Platform {
  state: PlatformState = newState();
  calls: Recorded[] = [];
  /** Called after each change, for what runs the uploaded Workers. */
  changed: () => Promise<void> = () => Promise.resolve();
  /** Calls that the login may not make. */
  forbidden: RegExp | null = null;
  #fault: Fault | null = null;
  #writes = 0;
  #server: Server | null = null;

  get account(): AccountState {
    return this.state.accounts[0]!;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server!.address() as AddressInfo).port}/client/v4`;
  }

  async start(): Promise<void> {
    this.#server = createServer((request, response) => {
      void received(request).then(async (call) => {
        const { status, text, isCut } = await this.#answer(call);
        // The connection breaks, as it does when a network fails in the middle of a call.
        if (isCut) return response.destroy();
        return response.writeHead(status, { 'content-type': 'application/json' }).end(text);
      });
    });
    await new Promise<void>((done) => this.#server!.listen(0, '127.0.0.1', done));
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((done) => this.#server?.close(done) ?? done(null));
  }

  /** The connection of the n-th write from now on is cut. */
  failAtWrite(atWrite: number, when: Fault['when']): void {
    this.#fault = { atWrite, when };
    this.#writes = 0;
  }

  /** @returns whether the fault was met. */
  endFault(): boolean {
    const wasMet = this.#fault === null || this.#writes >= this.#fault.atWrite;
    this.#fault = null;
    return wasMet;
  }

  writes(): Recorded[] {
    return this.calls.filter(({ isWrite }) => isWrite);
  }

  /** A call without a connection, for a test that makes thousands. One that is cut fails as `fetch` does. */
  async fetch(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    const { status, text, isCut } = await this.#answer(new Request(input, init));
    if (isCut) throw new TypeError('fetch failed', { cause: new Error('other side closed') });
    return new Response(text, { status, headers: { 'content-type': 'application/json' } });
  }

  async #answer(request: Request): Promise<{ status: number; text: string; isCut: boolean }> {
    const url = new URL(request.url);
    const path = url.pathname.replace(/^\/client\/v4/, '');
    const { method } = request;
    const call: Call = { method, path, query: url.searchParams, body: await bodyOf(request) };
    const isWrite = isWriteOf(call);
    this.calls.push({ method, path, isWrite });
    const fault = isWrite ? this.#faultNow() : this.#isKilled ? 'from' : null;
    if (fault === 'before' || fault === 'from') return { status: 0, text: '', isCut: true };
    const { status, text } = await this.#handled(request, call, isWrite);
    return { status, text, isCut: fault === 'after' };
  }

  get #isKilled(): boolean {
    return this.#fault?.when === 'from' && this.#writes >= this.#fault.atWrite;
  }

  #faultNow(): Fault['when'] | null {
    this.#writes += 1;
    if (this.#isKilled) return 'from';
    return this.#fault !== null && this.#writes === this.#fault.atWrite ? this.#fault.when : null;
  }

  async #handled(request: Request, call: Call, isWrite: boolean): Promise<{ status: number; text: string }> {
    const envelope = (result: unknown, errors: object[] = []) =>
      JSON.stringify({ success: errors.length === 0, errors, messages: [], result, result_info: infoOf(result) });
    try {
      if (request.headers.get('authorization') !== `Bearer ${TOKEN}`)
        throw new Refusal(401, 10000, 'Authentication error');
      if (this.forbidden?.test(`${call.method} ${call.path}`)) throw new Refusal(403, 10000, 'Authentication error');
      for (const [method, path, handler] of [...loginRoutes, ...storageRoutes, ...workerRoutes]) {
        const params = method === call.method ? path.exec(call.path) : null;
        if (params === null) continue;
        const text = envelope(await handler(this.state, call, params.slice(1)));
        if (isWrite) await this.changed();
        return { status: 200, text };
      }
      throw new Refusal(404, 7003, `The stand-in has no ${call.method} ${call.path}`);
    } catch (error) {
      const { status, code, message } = error instanceof Refusal ? error : new Refusal(500, 10013, String(error));
      return { status, text: envelope(null, [{ code, message }]) };
    }
  }
}

const infoOf = (result: unknown) =>
  Array.isArray(result)
    ? { page: 1, per_page: 50, count: result.length, total_count: result.length, total_pages: 1 }
    : undefined;

async function received(message: IncomingMessage): Promise<Request> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of message) chunks.push(chunk as Uint8Array);
  const { method = 'GET', headers } = message;
  return new Request(new URL(message.url ?? '/', 'http://platform.test'), {
    method,
    headers: { authorization: headers.authorization ?? '', 'content-type': headers['content-type'] ?? '' },
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
  });
}

async function bodyOf(request: Request): Promise<unknown> {
  if (request.headers.get('content-type')?.startsWith('multipart/') === true) return request.formData();
  const text = await request.text();
  return text === '' ? null : JSON.parse(text);
}

/** Queries are sent with POST, and some of them only read. */
function isWriteOf({ method, path, body }: Call): boolean {
  if (method === 'GET') return false;
  // A comparison, and the beginning of an upload.
  if (/\/(?:domains\/changeset|assets-upload-session)$/.test(path)) return false;
  if (!path.endsWith('/query')) return true;
  const asked = body as { sql?: string; batch?: { sql: string }[] };
  return [asked, ...(asked.batch ?? [])].some(({ sql }) => sql !== undefined && !/^\s*SELECT\b/i.test(sql));
}
