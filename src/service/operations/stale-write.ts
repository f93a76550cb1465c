/**
 * Writes on top of what was read. `ifVersion` of a write: the version that the caller read. If it is no longer the current one, somebody else has
 * changed the same thing since then, and the write is refused instead of overwriting what they did.
 */
import * as z from 'zod/mini';
import { OperationError } from './operation-error.ts';

export const ifVersion = z.optional(z.int().check(z.gte(0)));

/** `what`: the subject of the message, such as "The site". */
export function staleWrite(what: string, expected: number, current: number): OperationError {
  return new OperationError('API.CONFLICT', `${what} was changed since you read it. Read it again`, [
    { path: 'ifVersion', message: `is ${expected}, and the current version is ${current}` },
  ]);
}

/** @throws OperationError 409 when `expected` is given and is not the current version. */
export function checkVersion(what: string, expected: number | undefined, current: number): void {
  if (expected !== undefined && expected !== current) throw staleWrite(what, expected, current);
}

/** Attempts before 409. Each failed attempt means that another write succeeded, so this many parallel clients all do. */
const ATTEMPTS_MAX = 20;

/**
 * Repeats a write until it is made on top of the newest version. `attempt` reads, merges and writes; `null`: another
 * write was faster.
 * @throws OperationError 409 with the message `conflict` when others keep being faster.
 */
export async function untilWritten<Written>(
  conflict: string,
  attempt: () => Promise<Written | null>,
): Promise<Written> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const written = await attempt();
    if (written !== null) return written;
  }
  throw new OperationError('API.CONFLICT', conflict);
}
