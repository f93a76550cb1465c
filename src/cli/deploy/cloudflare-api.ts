/**
 * The platform's REST API. Every answer is checked, because a deployment decides by it what to create and what to delete.
 * Reading is repeated after a fault; writing is not, because the next run finds out whether it happened. The database is
 * behind the same API: `restDatabase` is the binding that the store's functions take.
 */
import type { D1Database } from '@cloudflare/workers-types';
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';
import { OperatorError } from '../failure.ts';

const ANSWERS_WITHIN_MS = 60_000;
const READ_ATTEMPTS = 3;
/** The platform's code for every call of R2 until somebody has enabled it, with the status of a missing permission. */
const R2_NOT_ENABLED = 10042;
/** 100 pages of the API's usual 50. An account with more of one kind is not searched further. */
const PAGES_MAX = 100;

const envelope = z.object({
  success: z.boolean(),
  errors: z._default(z.nullable(z.array(z.object({ code: z.number(), message: z.string() }))), []),
  result: z._default(z.unknown(), null),
  result_info: z.optional(
    z.nullable(
      z.object({
        total_pages: z.optional(z.number()),
        total_count: z.optional(z.number()),
        per_page: z.optional(z.number()),
        cursor: z.optional(z.string()),
      }),
    ),
  ),
});
type Envelope = z.infer<typeof envelope>;

/** The API refuses a call. `codes` are the platform's own. */
export class ApiError extends OperatorError {
  readonly status: number;
  readonly codes: readonly number[];
  constructor(message: string, status: number, codes: readonly number[]) {
    super(message);
    this.status = status;
    this.codes = codes;
  }

  get isForbidden(): boolean {
    return this.status === 403 || this.status === 401 || this.codes.includes(10000);
  }
}

export interface CloudflareApi {
  get<T extends z.ZodMiniType>(shape: T, path: string): Promise<z.infer<T>>;
  /** As `get`; `null` where the thing does not exist. */
  find<T extends z.ZodMiniType>(shape: T, path: string): Promise<z.infer<T> | null>;
  /** Every page of a list. */
  list<T extends z.ZodMiniType>(shape: T, path: string): Promise<z.infer<T>[]>;
  send<T extends z.ZodMiniType>(
    shape: T,
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<z.infer<T>>;
  /** Deletes what may be gone already. */
  remove(path: string): Promise<void>;
}

/** What the login needs for each part of the API, as the dashboard names it. */
const permissions: readonly [RegExp, string][] = [
  [/\/d1\//, 'Account, D1: Edit'],
  [/\/r2\//, 'Account, Workers R2 Storage: Edit'],
  [/\/queues/, 'Account, Queues: Edit'],
  [/\/storage\/kv\//, 'Account, Workers KV Storage: Edit'],
  [/\/workers\/routes/, 'Zone, Workers Routes: Edit'],
  [/\/dns_records/, 'Zone, DNS: Read'],
  [/\/workers\//, 'Account, Workers Scripts: Edit'],
  [/^\/zones/, 'Zone, Zone: Read'],
];

export function apiUrl(): string {
  return (process.env['CLOUDFLARE_API_BASE_URL'] ?? 'https://api.cloudflare.com/client/v4').replace(/\/$/, '');
}

export function cloudflareApi(token: string): CloudflareApi {
  const once = (method: string, path: string, body?: object) => request(token, method, path, body);
  const read = async (path: string): Promise<Envelope> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await once('GET', path);
      } catch (error) {
        const mayPass =
          error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.status === 429);
        if (!mayPass || attempt === READ_ATTEMPTS) throw error;
      }
    }
  };
  const api: CloudflareApi = {
    get: async (shape, path) => checked(shape, (await read(path)).result, path),
    find: async (shape, path) => {
      try {
        return await api.get(shape, path);
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
    list: async (shape, path) => {
      const all: z.infer<typeof shape>[] = [];
      let more = '';
      for (let page = 1; page <= PAGES_MAX; page += 1) {
        const join = path.includes('?') ? '&' : '?';
        const { result, result_info: info } = await read(`${path}${join}${more || `page=${page}`}`);
        all.push(...(checked(z.array(shape), result ?? [], path) as z.infer<typeof shape>[]));
        if (info?.cursor) more = `cursor=${encodeURIComponent(info.cursor)}`;
        else if (page >= pagesOf(info)) break;
      }
      return all;
    },
    send: async (shape, method, path, body) => checked(shape, (await once(method, path, body)).result, path),
    remove: async (path) => {
      await once('DELETE', path).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      });
    },
  };
  return api;
}

/** Some lists say how many pages they have, others how many things. */
function pagesOf(info: Envelope['result_info']): number {
  return info?.total_pages ?? Math.ceil((info?.total_count ?? 0) / (info?.per_page || 1));
}

function checked<T extends z.ZodMiniType>(shape: T, value: unknown, path: string): z.infer<T> {
  const parsed = z.safeParse(shape, value);
  if (parsed.success) return parsed.data;
  throw new OperatorError(
    `Cloudflare's API answered ${path} in a shape that this version does not know. Update this checkout.`,
  );
}

async function request(token: string, method: string, path: string, body?: object): Promise<Envelope> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${apiUrl()}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    text = await response.text();
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new ApiError(
      `Cloudflare cannot be reached. ${cause instanceof Error ? cause.message : 'No answer came'}. Check your connection and run the command again.`,
      0,
      [],
    );
  }
  const parsed = envelope.safeParse(parseJson(text));
  if (parsed.success && parsed.data.success && response.ok) return parsed.data;
  throw refused(method, path, response.status, parsed.success ? (parsed.data.errors ?? []) : []);
}

function refused(
  method: string,
  path: string,
  status: number,
  errors: readonly { code: number; message: string }[],
): ApiError {
  const codes = errors.map(({ code }) => code);
  const said = errors.map(({ code, message }) => `${message} (${code})`).join(', ') || `status ${status}`;
  const place = path.replace(/\?.*$/, '');
  if (codes.includes(R2_NOT_ENABLED))
    return new ApiError(
      `R2 is not enabled for the account: ${said}. Enable it in the dashboard (R2), and run the command again.`,
      status,
      codes,
    );
  const permission = permissions.find(([pattern]) => pattern.test(path))?.[1];
  if ((status === 403 || status === 401 || codes.includes(10000)) && permission !== undefined)
    return new ApiError(
      `The login may not ${method === 'GET' ? 'read' : 'change'} ${place}: ${said}. Give the token the permission "${permission}", or run "npx wrangler login" as a user who has it, and run the command again.`,
      status,
      codes,
    );
  const advice =
    status >= 500 || status === 429
      ? 'Wait a minute and run the command again.'
      : 'Correct that and run the command again.';
  return new ApiError(`Cloudflare refused ${method} ${place}: ${said}. ${advice}`, status, codes);
}

const answer = z.array(
  z.object({
    results: z._default(z.array(z.record(z.string(), z.unknown())), []),
    meta: z._default(z.looseObject({ changes: z._default(z.number(), 0) }), { changes: 0 }),
  }),
);
type Answer = z.infer<typeof answer>[number];

interface Query {
  sql: string;
  params: unknown[];
}

class Statement {
  readonly query: Query;
  readonly #run: (queries: Query[]) => Promise<Answer[]>;
  constructor(run: (queries: Query[]) => Promise<Answer[]>, query: Query) {
    this.#run = run;
    this.query = query;
  }

  bind(...params: unknown[]): Statement {
    return new Statement(this.#run, { sql: this.query.sql, params });
  }

  async all(): Promise<Answer & { success: true }> {
    const [first] = await this.#run([this.query]);
    return { success: true, ...(first ?? { results: [], meta: { changes: 0 } }) };
  }

  run(): Promise<Answer & { success: true }> {
    return this.all();
  }

  async first(column?: string): Promise<unknown> {
    const row = (await this.all()).results[0];
    if (row === undefined) return null;
    return column === undefined ? row : row[column];
  }
}

/** Needs no Worker: each query is one call, and a batch is one call that the platform runs as one transaction. */
export function restDatabase(api: CloudflareApi, accountId: string, databaseId: string): D1Database {
  const path = `/accounts/${accountId}/d1/database/${databaseId}/query`;
  const run = (queries: Query[]) =>
    api.send(answer, 'POST', path, queries.length === 1 ? queries[0]! : { batch: queries });
  const database = {
    prepare: (sql: string) => new Statement(run, { sql, params: [] }),
    batch: async (statements: Statement[]) =>
      (await run(statements.map(({ query }) => query))).map((one) => ({ success: true, ...one })),
  };
  // The store prepares, binds, reads and batches. What it never calls (dump, withSession) is not here.
  return database as unknown as D1Database;
}
