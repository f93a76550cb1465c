/**
 * What this checkout remembers of a deployment: its account, where its master key is, and its address. It only saves the
 * operator flags. The platform has the truth, so a lost file is found out again.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';
import type { Names } from './names.ts';

const memory = z.object({
  accountId: z.string(),
  /** `null`: the operator has it in the environment. */
  masterKeyFile: z.nullable(z.string()),
  serviceUrl: z.string(),
});
export type Memory = z.infer<typeof memory>;

const fileOf = (names: Names): string => join(names.folder, 'state.json');

export function remembered(names: Names): Memory | null {
  const path = fileOf(names);
  const parsed = memory.safeParse(existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : null);
  return parsed.success ? parsed.data : null;
}

/** A folder that cannot be written is no failure here: what is written next to it says so. */
export function remember(names: Names, facts: Memory): void {
  const path = fileOf(names);
  try {
    mkdirSync(names.folder, { recursive: true });
    writeFileSync(`${path}.new`, `${JSON.stringify(facts, null, 2)}\n`);
    renameSync(`${path}.new`, path);
  } catch {
    return;
  }
}
