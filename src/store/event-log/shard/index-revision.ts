/** Rises when the index of a sealed segment is replaced. A search that is under way then starts again. */
import { readMeta, writeMeta } from './schema.ts';

export function indexRevision(sql: SqlStorage): number {
  return Number(readMeta(sql, 'index_revision') ?? 0);
}

export function raiseIndexRevision(sql: SqlStorage): void {
  writeMeta(sql, 'index_revision', String(indexRevision(sql) + 1));
}
