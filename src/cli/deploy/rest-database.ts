/**
 * A D1 database over the platform's REST API, as the binding that the store's functions take. The command line needs no
 * Worker for it: each query is one call, and a batch is one call that the platform runs as one transaction.
 */
import type { D1Database } from '@cloudflare/workers-types';
import * as z from 'zod/mini';
import type { CloudflareApi } from './cloudflare-api.ts';

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
