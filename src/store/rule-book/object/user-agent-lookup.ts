/**
 * Finds the user agent rules that a header contains, without reading all rules. At each position of the header, the
 * primary key finds the greatest rule that does not sort after the text from there. Every rule that is a prefix of this
 * text is found on the way down: whatever sorts between a prefix and the text starts with the same prefix. This takes
 * two or three look-ups per position. A scan of 100,000 rules for a header of 16 KiB blocked the object for ten
 * seconds.
 */
import { USER_AGENT_VALUE_MAX_CHARS } from '../../../rules/canonical.ts';
import { typeCodes } from '../rule-row.ts';

/** About 10 ms of work, after which other calls run. */
const LOOKUPS_PER_SLICE = 2000;

/** Values of the rules that `userAgent` contains, folded as rule values are; at most `limit`. */
export async function userAgentRulesIn(
  sql: SqlStorage,
  userAgent: string,
  limit: number,
  giveWay: () => Promise<void>,
): Promise<string[]> {
  const text = userAgent.toWellFormed();
  const found = new Set<string>();
  /** A repetitive header needs the same look-up again. */
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

/** Without half of a surrogate pair at the end, which SQLite would store as another character. */
function whole(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
