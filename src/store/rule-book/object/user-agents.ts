/** Rules for parts of the user agent: how much of them a book may hold, and which match. */
import { PathMeter, USER_AGENT_BYTES_MAX, USER_AGENT_STATES_MAX } from '../../../rules/substring-paths.ts';
import { typeCodes } from '../rule-row.ts';
import type { RuleSetTooLarge } from '../rpc.ts';
import { USER_AGENT_VALUE_MAX_CHARS } from '../../../rules/canonical.ts';

/** Most rules need few states. A book of 50,000 of the greatest length takes as much memory as a compile has. */
export const USER_AGENT_RULES_MAX = 50_000;

/**
 * Whether the user agent rules of a book can be compiled: a limit for their number, their text and the states of their
 * automaton. Rules that repeat themselves or each other need a state for nearly every byte. The limit that the rules as
 * they are now exceed; `null` when they fit. `version` is the one that added rules.
 */
export function exceededBudget(sql: SqlStorage, version: number): RuleSetTooLarge | null {
  const { rules, bytes } = sql
    .exec<{ rules: number; bytes: number }>(
      `SELECT (SELECT COALESCE(SUM(rules), 0) FROM counts WHERE type = ?1) AS rules,
              (SELECT COALESCE(SUM(LENGTH(CAST(value AS BLOB))), 0) FROM rules WHERE type = ?1) AS bytes`,
      typeCodes.userAgent,
    )
    .one();
  if (rules > USER_AGENT_RULES_MAX) {
    return { reason: 'too-many-rules', limit: USER_AGENT_RULES_MAX, type: 'userAgent' };
  }
  // There is at most one state for each byte.
  if (bytes <= USER_AGENT_STATES_MAX) return null;
  const { states, largest } = statesOf(sql, version);
  if (bytes > USER_AGENT_BYTES_MAX) {
    return { reason: 'too-much-text', measure: 'bytes', limit: USER_AGENT_BYTES_MAX, needed: bytes, largest };
  }
  if (states > USER_AGENT_STATES_MAX) {
    return { reason: 'too-much-text', measure: 'states', limit: USER_AGENT_STATES_MAX, needed: states, largest };
  }
  return null;
}

/** All states, and which rule that `version` created needs most of them. */
function statesOf(sql: SqlStorage, version: number): { states: number; largest: string } {
  const encoder = new TextEncoder();
  const meter = new PathMeter();
  let largest = '';
  let most = -1;
  let before = { value: '', isNew: 0 };
  const measure = (next: Uint8Array | null): void => {
    const { states } = meter.measureBefore(next);
    if (before.isNew === 0 || states <= most) return;
    most = states;
    largest = before.value;
  };
  // The text order of SQLite is that of the UTF-8 bytes.
  const cursor = sql.exec<{ value: string; isNew: number }>(
    `SELECT r.value AS value, c.version IS NOT NULL AS isNew FROM rules r
       LEFT JOIN changes c ON c.version = ?2 AND c.type = r.type AND c.value = r.value AND c.before IS NULL
      WHERE r.type = ?1 ORDER BY r.value`,
    typeCodes.userAgent,
    version,
  );
  for (const row of cursor) {
    measure(encoder.encode(row.value));
    before = row;
  }
  measure(null);
  return { states: meter.states, largest };
}

/** About 10 ms of work, after which other calls run. */
const LOOKUPS_PER_SLICE = 2000;

/**
 * Finds the user agent rules that a header contains, without reading all rules. At each position of the header, the
 * primary key finds the greatest rule that does not sort after the text from there. Every rule that is a prefix of this
 * text is found on the way down: whatever sorts between a prefix and the text starts with the same prefix. This takes
 * two or three look-ups per position. A scan of 100,000 rules for a header of 16 KiB blocked the object for ten
 * seconds. Values of the rules that `userAgent` contains, folded as rule values are; at most `limit`.
 */
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
