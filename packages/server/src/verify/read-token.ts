/**
 * The token in a form field, whatever a framework or an attacker made of it: the widget's JSON text, the bare token,
 * the same as a parsed object, or a list of these when a page has two widgets.
 */

/** The service issues none that is longer. */
const TOKEN_MAX_CHARS = 131_072;
/** `{"token":""}`, with room for spaces. */
const FIELD_MAX_CHARS = TOKEN_MAX_CHARS + 64;
/** A form with more fields of one name is not one of a page. */
const LIST_MAX = 16;

export type TokenReading = { token: string } | { token: null; why: 'absent' | 'malformed' };

const ABSENT: TokenReading = { token: null, why: 'absent' };
const MALFORMED: TokenReading = { token: null, why: 'malformed' };

export function readToken(value: unknown): TokenReading {
  if (!Array.isArray(value)) return readOne(value);
  const readings = value.slice(0, LIST_MAX).map(readOne);
  return readings.find(({ token }) => token !== null) ?? readings.find((reading) => reading !== ABSENT) ?? ABSENT;
}

function readOne(value: unknown): TokenReading {
  if (value === undefined || value === null || value === '') return ABSENT;
  if (typeof value === 'string') return value.startsWith('{') ? readJson(value) : bare(value);
  return tokenOf(value);
}

function readJson(text: string): TokenReading {
  if (text.length > FIELD_MAX_CHARS) return MALFORMED;
  try {
    return tokenOf(JSON.parse(text));
  } catch {
    return MALFORMED;
  }
}

/** Own fields only, so that nothing inherited counts as sent. */
function tokenOf(value: unknown): TokenReading {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'token')) return MALFORMED;
  const { token } = value as { token: unknown };
  return typeof token === 'string' ? bare(token) : MALFORMED;
}

function bare(token: string): TokenReading {
  if (token === '') return ABSENT;
  // The service refuses a body with half a character, as if this backend had made a mistake.
  return token.length > TOKEN_MAX_CHARS || !token.isWellFormed() ? MALFORMED : { token };
}
