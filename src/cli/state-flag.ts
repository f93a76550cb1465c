/** How printed commands name the directory of a local stack: not at all where it is the default one. */
import { resolve } from 'node:path';

export const DEFAULT_STATE = '.gatehouse';

/** ` --state DIR`, to be put behind a command. */
export function stateFlag(dir: string): string {
  if (resolve(dir) === resolve(DEFAULT_STATE)) return '';
  return ` --state ${/^[\w@%+=:,./-]+$/.test(dir) ? dir : `'${dir.replaceAll("'", `'\\''`)}'`}`;
}

export function startCommand(dir: string): string {
  const flag = stateFlag(dir);
  return flag === '' ? 'npm start' : `npm start --${flag}`;
}
