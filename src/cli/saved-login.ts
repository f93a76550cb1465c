/**
 * The login that `gatehouse login` saves: one service and its API key, in a file that only its owner can read. Other
 * commands use it where no flag names a service and no local stack runs.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { parseJson } from '../bytes/json.ts';
import { OperatorError } from './failure.ts';

type Env = Readonly<Record<string, string | undefined>>;

const savedLogin = z.object({
  serviceUrl: z.string().check(z.minLength(1)),
  apiKey: z.string().check(z.minLength(1)),
});
type SavedLogin = z.infer<typeof savedLogin>;

export function loginPath(env: Env): string {
  const config = env['XDG_CONFIG_HOME'];
  const folder = config?.startsWith('/') === true ? config : join(env['HOME'] ?? homedir(), '.config');
  return join(folder, 'gatehouse', 'login.json');
}

/** `null`: nobody has logged in. @throws OperatorError when others can read the file, or when it is damaged. */
export function readLogin(env: Env): SavedLogin | null {
  const path = loginPath(env);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  // Windows has no such permissions: its profile folders belong to one user.
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    throw new OperatorError(`Other users can read the API key in ${path}. Revoke the key, and log in with a new one.`);
  const read = savedLogin.safeParse(parseJson(readFileSync(path, 'utf8')));
  if (read.success) return read.data;
  throw new OperatorError(`${path} is not a saved login. Remove it with gatehouse logout, and log in again.`);
}

/** @returns the path of the file. */
export function saveLogin(env: Env, login: SavedLogin): string {
  const path = loginPath(env);
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(login, null, 2)}\n`, { mode: 0o600 });
    // An older draft keeps its permissions when it is written again.
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The login cannot be saved in ${path}. Check the folder's permissions. ${what}`);
  }
  return path;
}

/** `false`: there was none. */
export function removeLogin(env: Env): boolean {
  const path = loginPath(env);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return false;
  rmSync(path);
  return true;
}
