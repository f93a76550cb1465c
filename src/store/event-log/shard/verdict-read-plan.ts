/**
 * A shard's plan for a reader: unsealed rows, the sealed row groups with rows of the page, and the exact number of
 * matches. Made in one synchronous step, so that unsealed and sealed rows neither overlap nor miss a row.
 */
import type { RowFilter } from '../row-filter.ts';
import type { HotKeys } from './hot-keys.ts';
import { PageRowGroups } from './verdict-page-row-groups.ts';
import { type SealedSegment, SegmentMatcher } from './verdict-segment-match.ts';
import type { Plan, PlannedTotal, PlanRequest } from '../shard-rpc.ts';
import { hotRows } from './hot-query.ts';

/** Row groups opened only to count `total`, for keys that are too long to be told apart: about 100 ms. */
export const COUNT_ROW_GROUPS_MAX = 80;

export function planRead(sql: SqlStorage, keys: HotKeys, request: PlanRequest): Plan {
  const { filter, before, limit } = request;
  const segments = sealedSegments(sql, filter);
  const matcher = new SegmentMatcher(sql, filter, segments);
  const page = new PageRowGroups(sql, before, limit, matcher.isSure);
  const hot = hotRows(sql, keys, filter, before, limit);
  const total = request.wantTotal ? { counted: hot.count, open: [], openCut: false } : null;
  for (const segment of segments) {
    const isOnPage = page.wants(segment);
    if (total !== null && matcher.isSure && !isOnPage) total.counted += matcher.count(segment);
    else if (isOnPage || (total !== null && !total.openCut)) {
      const rows = matcher.rows(segment);
      if (isOnPage) page.add(segment, rows);
      if (total !== null) countLater(total, page, segment, rows, matcher.isSure);
    }
  }
  return { hot: hot.rows, ...page.rowGroups(), total };
}

function countLater(
  total: PlannedTotal,
  page: PageRowGroups,
  segment: SealedSegment,
  rows: readonly number[],
  isSure: boolean,
): void {
  if (isSure) total.counted += rows.length;
  else {
    total.open.push(...page.rowGroupsOf(segment, rows));
    total.openCut ||= total.open.length > COUNT_ROW_GROUPS_MAX;
    total.open.length = Math.min(total.open.length, COUNT_ROW_GROUPS_MAX);
  }
}

/** Newest first. */
function sealedSegments(sql: SqlStorage, { since, until }: RowFilter): SealedSegment[] {
  return sql
    .exec<SealedSegment & Record<string, SqlStorageValue>>(
      `SELECT no, object, rows, min_ts AS minTs, max_ts AS maxTs, max_id AS maxId FROM segments
       WHERE state = 'sealed' AND rows > 0 AND max_ts >= ? AND min_ts < ? ORDER BY max_ts DESC, max_id DESC`,
      since,
      until,
    )
    .toArray();
}
