/** Words of printed commands, such as the directory of a local stack, which the default one does not need. */
import { resolve } from 'node:path';

export const DEFAULT_STATE = '.gatehouse';

/** ` --state DIR`, to be put behind a command. */
export function stateFlag(dir: string): string {
  if (resolve(dir) === resolve(DEFAULT_STATE)) return '';
  return ` --state ${shellWord(dir)}`;
}

/** A word as a shell reads it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function startCommand(dir: string): string {
  const flag = stateFlag(dir);
  return flag === '' ? 'npm start' : `npm start --${flag}`;
}
