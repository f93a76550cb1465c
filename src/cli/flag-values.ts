/** Values of flags, checked before anything is called. Times are `1h`, `30m` or `7d` ago, `now`, or as the API takes them. */
import { readFileSync } from 'node:fs';
import { epochMsOf } from '../contract/management/time.ts';
import { CommandError } from './command-line.ts';

/** `name`: as the caller typed it, such as `--limit` or VERSION. @throws CommandError */
export function typedNumber(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new CommandError(`${name} must be a whole number, not ${text}.`);
  return Number(text);
}

export function optionalNumber(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : typedNumber(name, text);
}

export function isOn(name: string, text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new CommandError(`${name} is on or off.`);
  return text === 'on';
}

/** `A,B`; an empty text is an empty list. */
export function listOf(text: string | undefined): string[] | undefined {
  return text?.split(',').filter((item) => item !== '');
}

/** `-`: standard input. @throws CommandError where the file cannot be read, or is too long. */
export function contentOf(file: string, maxBytes = Number.POSITIVE_INFINITY): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${fileName(file)} cannot be read. Check the path. ${what}`);
  }
  if (bytes.length > maxBytes) throw new CommandError(`${fileName(file)} has more than ${maxBytes} bytes.`);
  return bytes.toString('utf8');
}

export function fileName(file: string): string {
  return file === '-' ? 'Standard input' : file;
}

/** Times in flags: `1h`, `30m` and `7d` ago, `now`, ISO 8601, or epoch milliseconds, as the API takes them. */
const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** @throws CommandError where the text is no time. */
export function timeOf(flag: string, text: string | undefined, nowMs = Date.now()): string | undefined {
  if (text === undefined) return undefined;
  if (text === 'now') return new Date(nowMs).toISOString();
  const [, count, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(Math.max(0, nowMs - Number(count) * UNIT_MS[unit]!)).toISOString();
  if (epochMsOf(text) !== null) return text;
  throw new CommandError(`${flag} is ${text}. Use a time ago such as 1h, 30m or 7d, or 2027-01-31T00:00:00Z.`);
}

/** `--since` and `--until` as fields of a call. */
export function windowFields(values: Readonly<Record<string, string | undefined>>): object {
  return { since: timeOf('--since', values['since']), until: timeOf('--until', values['until']) };
}

/** `30d`, or a date, as a time of the API. @throws CommandError */
export function expiryOf(text: string): string {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(Date.now() + Number(count) * UNIT_MS[unit]!).toISOString();
  if (epochMsOf(text) === null) throw new CommandError('--expiry is a date like 2027-01-31T00:00:00Z, or 30d, 12h.');
  return text;
}
