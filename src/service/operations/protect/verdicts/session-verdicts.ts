/** Every verdict of one session, newest first, up to a limit. */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { everything } from '../../../../store/event-log/row-filter.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import type { RowKey } from '../../../../store/event-log/log-row.ts';
import type { LogTarget } from './verdict-log-query.ts';
import type { ServiceStore } from '../../../environment.ts';

const PAGE_ROWS = 1000;

export interface SessionVerdicts {
  records: VerdictRecord[];
  /** Of the whole session, including those beyond the limit. */
  total: number;
}

export async function sessionVerdicts(
  store: ServiceStore,
  target: LogTarget,
  jti: string,
  rowsMax: number,
): Promise<SessionVerdicts> {
  const filter = { ...everything, since: target.horizon, jti };
  const records: VerdictRecord[] = [];
  let before: RowKey | null = null;
  let total = 0;
  do {
    const limit = Math.min(PAGE_ROWS, rowsMax - records.length);
    const page = await readPage(store, target.log, { filter, before, offset: 0, limit, wantTotal: before === null });
    if (before === null) total = page.total;
    records.push(...page.rows.map(({ body }) => JSON.parse(body) as VerdictRecord));
    before = page.next;
  } while (before !== null && records.length < rowsMax);
  return { records, total };
}
