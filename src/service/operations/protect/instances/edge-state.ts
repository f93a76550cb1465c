/**
 * How an edge is, from its last contact and the rules that it has taken. An edge without visitors still polls once a
 * minute, by its scheduled run.
 */
import type { SeenEdge } from '../../../../store/rule-book/rpc.ts';

/** Three scheduled runs that failed to call. */
const SILENT_AFTER_MS = 180_000;
/** An edge takes new rules within seconds while it has visitors, else at its next scheduled run. */
const RULES_OLD_AFTER_MS = 180_000;

export const edgeStates = ['in-contact', 'old-rules', 'silent', 'never-seen', 'retired'] as const;
export type EdgeState = (typeof edgeStates)[number];

/** Of an edge whose client JWT works. */
export function edgeState(seen: SeenEdge | undefined, nowMs: number): EdgeState {
  if (seen === undefined) return 'never-seen';
  if (nowMs - seen.contactAt > SILENT_AFTER_MS) return 'silent';
  return areRulesOld(seen, nowMs) ? 'old-rules' : 'in-contact';
}

export function areRulesOld({ behindSince }: SeenEdge, nowMs: number): boolean {
  return behindSince !== null && nowMs - behindSince > RULES_OLD_AFTER_MS;
}
