/**
 * Erases a book whose instance was deleted: its rules, their log and their files. The book is marked first; the alarm
 * erases it and repeats until it succeeds.
 */
import { migrateObject } from '../../object-schema.ts';
import { rulesetFolder } from '../ruleset-objects.ts';
import { nameRuleBook, ruleBookSchema } from './schema.ts';

export function markRuleBookRetired(sql: SqlStorage, nowMs: number): void {
  sql.exec('INSERT INTO retired (at) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM retired)', nowMs);
}

export function isRuleBookRetired(sql: SqlStorage): boolean {
  return sql.exec('SELECT 1 FROM retired').toArray().length > 0;
}

/** Leaves an empty book of the same name. */
export async function eraseRuleBook(storage: DurableObjectStorage, files: R2Bucket, instanceId: string): Promise<void> {
  for (;;) {
    const { objects } = await files.list({ prefix: rulesetFolder(instanceId) });
    if (objects.length === 0) break;
    await files.delete(objects.map((object) => object.key));
  }
  await storage.deleteAll();
  migrateObject(storage, ruleBookSchema);
  nameRuleBook(storage.sql, instanceId);
}
