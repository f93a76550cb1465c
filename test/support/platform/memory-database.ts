/** A D1 database of the stand-in: SQLite in memory, so that a hundred deployments cost a second. */
import { DatabaseSync } from 'node:sqlite';

export interface Query {
  sql: string;
  params?: unknown[];
}

export interface Answer {
  success: true;
  results: Record<string, unknown>[];
  meta: { changes: number };
}

export interface PlatformDatabase {
  /** One transaction. */
  run(queries: readonly Query[]): Promise<Answer[]>;
}

export class MemoryDatabase implements PlatformDatabase {
  readonly #database = new DatabaseSync(':memory:');

  run(queries: readonly Query[]): Promise<Answer[]> {
    this.#database.exec('BEGIN');
    try {
      const answers = queries.map(({ sql, params = [] }): Answer => {
        const statement = this.#database.prepare(sql);
        const values = params as (string | number | null)[];
        // Rows of a statement that returns none are an empty list, and its changes count.
        const before = this.#changes();
        const results = statement.all(...values) as Record<string, unknown>[];
        return { success: true, results, meta: { changes: this.#changes() - before } };
      });
      this.#database.exec('COMMIT');
      return Promise.resolve(answers);
    } catch (error) {
      this.#database.exec('ROLLBACK');
      return Promise.reject(error as Error);
    }
  }

  #changes(): number {
    return Number(this.#database.prepare('SELECT total_changes() AS n').get()?.['n']);
  }
}
