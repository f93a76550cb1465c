/** Values of flags, checked before anything is called. */
import { readFileSync } from 'node:fs';
import { CommandError } from './command-line.ts';

/** `name`: as the caller typed it, such as `--limit` or VERSION. @throws CommandError */
export function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new CommandError(`${name} must be a whole number, not ${text}.`);
  return Number(text);
}

export function optionalNumber(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : wholeNumber(name, text);
}

export function isOn(name: string, text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new CommandError(`${name} is on or off.`);
  return text === 'on';
}

/** `A,B`; an empty text is an empty list. */
export function listOf(text: string | undefined): string[] | undefined {
  return text?.split(',').filter((item) => item !== '');
}

/** `-`: standard input. @throws CommandError where the file cannot be read. */
export function contentOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${file === '-' ? 'Standard input' : file} cannot be read. Check the path. ${what}`);
  }
}
