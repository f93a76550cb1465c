/**
 * Which user agent rules are part of a header, without reading them all: at each position of the header the
 * greatest rule not above what follows is looked up in the primary key. Every rule that is a beginning
 * of the text lies on the way down from there, since whatever sorts between a beginning and the text
 * itself begins the same. Two or three look-ups per position, where a scan of 100,000 rules under a
 * header of 16 KiB held the object for ten seconds.
 */
import { USER_AGENT_VALUE_MAX_CHARS } from '../../../rules/canonical.ts';
import { typeCodes } from '../rule-row.ts';

/** About 10 ms of work between which others are let in. */
const LOOKUPS_PER_SLICE = 2000;

/** Values of the rules that `userAgent`, folded as they are, contains; at most `limit`. */
export async function userAgentRulesIn(
  sql: SqlStorage,
  userAgent: string,
  limit: number,
  giveWay: () => Promise<void>,
): Promise<string[]> {
  const text = userAgent.toWellFormed();
  const found = new Set<string>();
  /** A header that repeats itself asks the same again. */
  const known = new Map<string, string | null>();
  for (let start = 0; start < text.length && found.size < limit; start += 1) {
    let bound = whole(text.slice(start, start + USER_AGENT_VALUE_MAX_CHARS));
    while (bound !== '') {
      let greatest = known.get(bound);
      if (greatest === undefined) {
        greatest = greatestUpTo(sql, bound);
        known.set(bound, greatest);
        if (known.size % LOOKUPS_PER_SLICE === 0) await giveWay();
      }
      if (greatest === null) break;
      if (bound.startsWith(greatest)) {
        found.add(greatest);
        bound = whole(greatest.slice(0, -1));
      } else {
        bound = whole(bound.slice(0, commonLength(bound, greatest)));
      }
    }
  }
  return [...found].slice(0, limit);
}

function greatestUpTo(sql: SqlStorage, bound: string): string | null {
  const [row] = sql.exec<{ value: string }>(
    'SELECT value FROM rules WHERE type = ? AND value <= ? ORDER BY value DESC LIMIT 1',
    typeCodes.userAgent,
    bound,
  );
  return row?.value ?? null;
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.charCodeAt(length) === other.charCodeAt(length)) length += 1;
  return length;
}

/** Without half a character at the end: SQLite would take it for another one. */
function whole(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
