/**
 * Whether the user agent rules of a book can be compiled: a limit for their number, their text and the states of their
 * automaton. Rules that repeat themselves or each other need a state for nearly every byte.
 */
import { PathMeter, USER_AGENT_BYTES_MAX, USER_AGENT_STATES_MAX } from '../../../rules/substring-paths.ts';
import { typeCodes } from '../rule-row.ts';
import type { RuleSetTooLarge } from '../rpc.ts';

/** Most rules need few states. A book of 50,000 of the greatest length takes as much memory as a compile has. */
export const USER_AGENT_RULES_MAX = 50_000;

/** The limit that the rules as they are now exceed; `null` when they fit. `version` is the one that added rules. */
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
