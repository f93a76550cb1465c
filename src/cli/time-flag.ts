/** Times in flags: `1h`, `30m` and `7d` ago, `now`, ISO 8601, or epoch milliseconds, as the API takes them. */
import { epochMsOf } from '../contract/management/time.ts';
import { CommandError } from './command-line.ts';

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
export function windowOf(values: Readonly<Record<string, string | undefined>>): { since?: string; until?: string } {
  const since = timeOf('--since', values['since']);
  const until = timeOf('--until', values['until']);
  return { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) };
}
