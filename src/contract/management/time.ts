/**
 * A time as a caller sends it, the same in every call: ISO 8601, with or without punctuation, or epoch milliseconds as a
 * number or as text. Without an offset it is UTC, and a day alone is its first moment. See docs/management-api.md.
 */
import * as z from 'zod/mini';

const LATEST_MS = 8.64e15;
const TEXT_MAX_CHARS = 40;
const MINUTE_MS = 60_000;

/** The `+` of an offset is a blank where a form did not escape it. RFC 3339 allows a blank and small letters too. */
const ISO =
  /^(\d{4})(-?)(\d{2})\2(\d{2})(?:[T ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?(?:Z|([+ -])(\d{2}):?(\d{2})?)?)?$/i;

const DAY = /^\d{4}(-?)\d{2}\1\d{2}$/;

/** Epoch milliseconds, or `null` for a text in another form and for a day or an hour that does not exist. */
export function epochMsOf(text: string): number | null {
  const trimmed = text.trim();
  const parts = ISO.exec(trimmed);
  const ms = parts === null ? null : msOf(parts);
  if (ms !== null) return ms;
  // Eight digits that are a day were read as one above: nobody means a moment of 1 January 1970 by them.
  const number = /^\d{1,16}$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  return number <= LATEST_MS ? number : null;
}

function msOf([, year, , month, day, hour, minute, second, fraction, sign, offsetHour, offsetMinute]: RegExpExecArray) {
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map((part) => Number(part ?? 0)) as Six;
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  // 30 February would be 2 March.
  if (date.getUTCMonth() !== mo - 1 || date.getUTCDate() !== d) return null;
  const isMidnight = h === 24 && mi === 0 && s === 0;
  if ((h > 23 && !isMidnight) || mi > 59 || s > 59) return null;
  const [oh, om] = [Number(offsetHour ?? 0), Number(offsetMinute ?? 0)];
  if (oh > 23 || om > 59) return null;
  const offsetMs = (oh * 60 + om) * MINUTE_MS * (sign === '-' ? -1 : 1);
  date.setUTCHours(h, mi, s, Number((fraction ?? '').padEnd(3, '0').slice(0, 3)));
  // Nothing is older than the first moment that is counted.
  return Math.max(date.getTime() - offsetMs, 0);
}
type Six = [number, number, number, number, number, number];

const given = z.union([
  z.int().check(z.gte(0), z.lte(LATEST_MS)),
  z.string().check(z.minLength(1), z.maxLength(TEXT_MAX_CHARS)),
]);
const MESSAGE = 'is not a time such as 2027-01-31T12:00:00Z, 2027-01-31 or epoch milliseconds';

/** A time, and whether it was a day alone. */
export const dayOrInstant = z.pipe(
  given,
  z.transform((value, context): { ms: number; isDay: boolean } => {
    const ms = typeof value === 'number' ? value : epochMsOf(value);
    if (ms !== null) return { ms, isDay: typeof value === 'string' && DAY.test(value.trim()) };
    context.issues.push({ code: 'custom', message: MESSAGE, input: value });
    return z.NEVER;
  }),
);
export type DayOrInstant = z.infer<typeof dayOrInstant>;

/** A time, to epoch milliseconds. */
export const instant = z.pipe(
  dayOrInstant,
  z.transform(({ ms }) => ms),
);
