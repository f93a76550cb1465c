/**
 * Goes through the newest records of a log that fit a filter, page by page, up to a limit. `isFull` says that the examiner
 * has no room for another one.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { RowKey } from '../../../../store/event-log/log-row.ts';
import type { RowFilter } from '../../../../store/event-log/row-filter.ts';
import type { LogName } from '../../../../store/event-log/client/shards.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import type { ServiceStore } from '../../../environment.ts';

/** A few seconds of work. Of a busy site these are the last minutes, of a quiet site the whole week. */
const EXAMINED_MAX_RECORDS = 50_000;
const PAGE_RECORDS = 1000;

export interface Examined {
  examined: number;
  /** Every record from here on was examined; epoch milliseconds. */
  examinedSince: number;
  /** Whether no record of the filter is left. */
  complete: boolean;
}

export async function examineNewest(
  store: ServiceStore,
  log: LogName,
  filter: RowFilter,
  examine: (record: VerdictRecord) => void,
  isFull: () => boolean = () => false,
): Promise<Examined> {
  let examined = 0;
  let examinedSince = filter.since;
  let before: RowKey | null = null;
  while (examined < EXAMINED_MAX_RECORDS) {
    const page = await readPage(store, log, { filter, before, offset: 0, limit: PAGE_RECORDS, wantTotal: false });
    for (const row of page.rows) {
      if (isFull()) return { examined, examinedSince, complete: false };
      examine(JSON.parse(row.body) as VerdictRecord);
      examined += 1;
      examinedSince = row.timestamp;
    }
    before = page.next;
    if (before === null) return { examined, examinedSince: filter.since, complete: true };
  }
  return { examined, examinedSince, complete: false };
}

/** How many fit. */
export async function countRecords(store: ServiceStore, log: LogName, filter: RowFilter): Promise<number> {
  const page = await readPage(store, log, { filter, before: null, offset: 0, limit: 1, wantTotal: true });
  return page.total;
}
