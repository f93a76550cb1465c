/** Commands that the command line prints for people to type: how a stack is started, and how a change is taken back. */
import { resolve } from 'node:path';
import { printable } from './printable.ts';

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

/** How a command that changes one thing ends. */
export interface TakenBack {
  /** As it is typed. Absent where nothing was changed. */
  takeBack?: string | undefined;
}

export function takeBackLines({ takeBack }: TakenBack): string[] {
  return takeBack === undefined ? [] : [printable(`Take it back with: ${takeBack}`)];
}
