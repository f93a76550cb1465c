/** Writes a generated file as a whole, and only when it changed: another process may be bundling a Worker from it. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

export function writeGenerated(path: string, source: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === source) return;
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, source);
  renameSync(draft, path);
}
