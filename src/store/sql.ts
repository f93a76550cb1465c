/**
 * SQL with its values where they belong. A value that stands in a template becomes a bound parameter, never a part of the
 * text; a piece of SQL in it, made by `sql`, becomes a part of the statement with the values of its own.
 */
import type { D1PreparedStatement } from '@cloudflare/workers-types';
import type { StoreEnv } from './binding.ts';

/** A flag is stored as 0 or 1. */
type SqlValue = string | number | boolean | null;

export class Sql {
  readonly text: string;
  readonly values: readonly (string | number | null)[];

  constructor(texts: readonly string[], inserts: readonly (SqlValue | Sql)[]) {
    const values: (string | number | null)[] = [];
    const pieces = inserts.map((insert) => {
      if (insert instanceof Sql) {
        values.push(...insert.values);
        return insert.text;
      }
      values.push(typeof insert === 'boolean' ? Number(insert) : insert);
      return '?';
    });
    this.text = String.raw({ raw: texts }, ...pieces);
    this.values = values;
  }
}

/** A piece of SQL, for a statement. */
export function sql(texts: TemplateStringsArray, ...inserts: readonly (SqlValue | Sql)[]): Sql {
  return new Sql(texts, inserts);
}

/** Pieces of a list, with commas between them. */
export function joined(pieces: readonly Sql[]): Sql {
  return new Sql(['', ...pieces.slice(1).map(() => ', '), ''], pieces);
}

/** A tag for a whole statement, to be run alone or in a batch. */
export function statement(env: Pick<StoreEnv, 'DB'>): (...template: Parameters<typeof sql>) => D1PreparedStatement {
  return (...template) => {
    const { text, values } = sql(...template);
    return env.DB.prepare(text).bind(...values);
  };
}
