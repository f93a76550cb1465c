/**
 * What this machine keeps of a deployment. The checkout remembers its account, where its master key is, and its address:
 * that only saves the operator flags, and a lost file is found out again. Of the master key there is no second copy, and
 * every stored secret depends on it. So it is written before it is used, outside the checkout, readable by its owner only,
 * and it is never overwritten.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { decodeBase64url } from '../../bytes/base64url.ts';
import { parseJson } from '../../bytes/json.ts';
import { openAtRest, randomToken } from '../../store/keys/master-key.ts';
import { OperatorError } from '../failure.ts';
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

const KEY_BYTES = 32;
/** As `root-key.ts` seals it. */
const ROOT_KEY_CONTEXT = 'root_key.sealed:1';

export interface MasterKey {
  key: string;
  /** `null`: it came from the environment, and the operator keeps it. */
  file: string | null;
  created: boolean;
}

/** Named after the account too, because one operator may deploy to several. */
export function defaultKeyFile(deployment: string, accountId: string): string {
  const config = process.env['XDG_CONFIG_HOME'];
  // The standard ignores a relative path, which would put the key into the checkout.
  const base = config?.startsWith('/') === true ? config : join(homedir(), '.config');
  return join(base, 'gatehouse', `${deployment}-${accountId}.master-key`);
}

/**
 * The key of the deployment: from the environment, from the file, or new. `sealed` is the stored root key of a deployment
 * that exists; only the key that sealed it is accepted.
 * @throws OperatorError when the deployment exists and its key is missing, or is another one.
 */
export async function masterKeyOf(path: string, sealed: string | null, mayCreate: boolean): Promise<MasterKey | null> {
  const given = process.env['MASTER_KEY'];
  const file = given ? null : resolve(path);
  const key = given || readKey(path);
  const place = file === null ? 'the variable MASTER_KEY' : file;
  if (key === null) {
    if (sealed !== null)
      throw new OperatorError(
        `The deployment exists, and its master key is not in ${place}. Put the key there, or name its file with --master-key-file. Without it, the stored secrets cannot be read.`,
      );
    return mayCreate ? { key: createdKey(path), file, created: true } : null;
  }
  if (decodeBase64url(key)?.length !== KEY_BYTES)
    throw new OperatorError(
      `The master key in ${place} is not 32 bytes in base64url. Correct it: nothing was changed.`,
    );
  if (sealed !== null && !(await opens(key, sealed)))
    throw new OperatorError(
      `The deployment exists with another master key than the one in ${place}. Name the right file with --master-key-file, or another deployment with --name.`,
    );
  return { key, file, created: false };
}

async function opens(key: string, sealed: string): Promise<boolean> {
  try {
    await openAtRest(key, ROOT_KEY_CONTEXT, sealed);
    return true;
  } catch {
    return false;
  }
}

/** `null` where there is no file. */
export function readKey(path: string): string | null {
  if (!existsSync(path)) return null;
  try {
    const mode = statSync(path).mode & 0o077;
    if (mode !== 0 && process.platform !== 'win32')
      throw new OperatorError(
        `Others may read the master key in ${path}. Run "chmod 600 ${path}", and run the command again.`,
      );
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      `The master key in ${path} cannot be read. Correct its permissions, or name another file with --master-key-file.`,
    );
  }
}

function createdKey(path: string): string {
  const key = randomToken(KEY_BYTES);
  try {
    mkdirSync(dirname(resolve(path)), { recursive: true, mode: 0o700 });
    // Fails when the file is there, so that no key is overwritten.
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, `${key}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch {
    throw new OperatorError(`The master key cannot be written to ${path}. Name another file with --master-key-file.`);
  }
  return key;
}
