/**
 * The response of the two operations that page the log. Each row is JSON already, so the page is put together as text.
 */
import type { VerdictPageRequest } from '../../../../contract/management/verdict-query.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import type { RowFilter } from '../../../../store/event-log/row-filter.ts';
import { explainedBody } from './explained-row.ts';
import { decodeCursor, encodeCursor } from './verdict-cursor.ts';
import type { LogTarget } from './verdict-log-query.ts';
import type { ServiceStore } from '../../../environment.ts';

export async function verdictPage(
  store: ServiceStore,
  target: LogTarget,
  filter: RowFilter,
  paging: Pick<VerdictPageRequest, 'limit' | 'offset' | 'cursor'>,
): Promise<Response> {
  const { limit, offset } = paging;
  const before = decodeCursor(paging.cursor);
  const passOver = offset + (before?.skip ?? 0);
  const page = await readPage(store, target.log, { filter, before, offset: passOver, limit, wantTotal: true });
  const rest = {
    total: page.total,
    totalIsExact: page.totalIsExact,
    limit,
    offset,
    nextCursor: page.next ? encodeCursor(page.next) : null,
  };
  const verdicts = page.rows.map(explainedBody).join(',');
  return new Response(`{"verdicts":[${verdicts}],${JSON.stringify(rest).slice(1)}`, {
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
  });
}
