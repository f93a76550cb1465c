/**
 * A row of the log as the API returns it: with the sentence that says why. The log keeps what was decided from, and the
 * sentence is written here, whenever somebody reads it.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { ReturnedVerdict } from '../../../../contract/management/returned-verdict.ts';
import { explainRecord } from '../../../../rules/explain.ts';
import { inOrder, type StoredRow } from '../../../../store/event-log/log-row.ts';

export function explainedVerdict(record: VerdictRecord): ReturnedVerdict {
  return { ...record, explain: explainRecord(record) };
}

/** Its JSON. A record that has its explanation stays as it is stored. */
export function explainedBody({ body }: StoredRow): string {
  const record = JSON.parse(body) as VerdictRecord;
  return record.explain === undefined ? JSON.stringify(inOrder(explainedVerdict(record))) : body;
}
