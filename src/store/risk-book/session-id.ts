/**
 * The id of a session: the digit of its book, the moment its page asked for it, and 80 random bits. The moment leads to
 * the table and the place of the session, so that its row needs no index. Ids of another form, from an edge that opened
 * sessions in an outage, work as well: their book keeps their places. The hyphen tells it from the jti of a captcha.
 */
import { encodeHex } from '../../bytes/hex.ts';

/** Milliseconds since 1970 fit into 11 hexadecimal digits until the year 2527. */
const TIME_DIGITS = 11;
const RANDOM_BYTES = 10;
const FORM = /^[0-9a-f]([0-9a-f]{11})-[0-9a-f]{20}$/;

/** Twelve hexadecimal digits, a hyphen, twenty more. `book`: 0 to 15. */
export function newSessionId(book: number, nowMs: number): string {
  const time = nowMs.toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS);
  return `${book.toString(16)}${time}-${encodeHex(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)))}`;
}

/**
 * The id of the one session that a page load opens. The load's request id is a UUIDv7: twelve digits of time, and twenty
 * that are random but for two.
 */
export function sessionIdOfLoad(book: number, requestId: string): string {
  const digits = requestId.replaceAll('-', '');
  return `${book.toString(16)}${digits.slice(12 - TIME_DIGITS, 12)}-${digits.slice(12)}`;
}

/** Epoch milliseconds; `null` for an id of another form. */
export function askedAtOf(jti: string): number | null {
  const time = FORM.exec(jti)?.[1];
  return time === undefined ? null : Number.parseInt(time, 16);
}
