/** The verdict with one reference. A visitor who quotes it does not know which instance they met. */
import { SHORT_REFERENCE } from '../../../../contract/edge/short-reference.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { FOUND_VERDICTS_MAX } from '../../../../contract/management/reference-search.ts';
import { activeInstances, type StoredInstance } from '../../../../store/d1/instances.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import { verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import { retentionHorizon } from '../../../../store/event-log/retention.ts';
import type { OperationContext } from '../../define-operation.ts';
import { NoActiveInstanceError } from '../../operation-error.ts';
import { rowFilter, shortReferenceFilter } from './verdict-log-query.ts';

/** As many as an account can have. */
const INSTANCES_MAX = 300;
const SEARCHED_AT_ONCE = 6;

export interface FoundVerdict {
  record: VerdictRecord;
  instance: StoredInstance;
}

/** @throws NoActiveInstanceError */
export async function findVerdict(
  context: Pick<OperationContext<unknown>, 'store' | 'account' | 'nowMs'>,
  requestId: string,
  siteKey: string | undefined,
): Promise<FoundVerdict | null> {
  const { store, account } = context;
  const instances = await activeInstances(store, account.id, { siteKey, limit: INSTANCES_MAX });
  if (instances.length === 0) throw new NoActiveInstanceError();
  for (let at = 0; at < instances.length; at += SEARCHED_AT_ONCE) {
    const group = instances.slice(at, at + SEARCHED_AT_ONCE);
    const records = await Promise.all(group.map((instance) => verdictIn(context, instance, requestId)));
    const index = records.findIndex((record) => record !== null);
    const record = records[index] ?? null;
    if (record !== null) return { record, instance: group[index] as StoredInstance };
  }
  return null;
}

async function verdictIn(
  { store, nowMs }: Pick<OperationContext<unknown>, 'store' | 'nowMs'>,
  instance: StoredInstance,
  requestId: string,
): Promise<VerdictRecord | null> {
  const filter = rowFilter({ requestId }, retentionHorizon(instance.retentionDays, nowMs));
  const request = { filter, before: null, offset: 0, limit: 1, wantTotal: false };
  const [row] = (await readPage(store, verdictLogOf(instance), request)).rows;
  return row === undefined ? null : (JSON.parse(row.body) as VerdictRecord);
}

export interface FoundVerdicts {
  records: VerdictRecord[];
  isComplete: boolean;
}

/** A whole reference has one verdict at most, a short one may have several. @throws NoActiveInstanceError */
export async function findVerdicts(
  context: Pick<OperationContext<unknown>, 'store' | 'account' | 'nowMs'>,
  reference: string,
  siteKey: string | undefined,
): Promise<FoundVerdicts> {
  if (!SHORT_REFERENCE.test(reference)) {
    const found = await findVerdict(context, reference, siteKey);
    return { records: found === null ? [] : [found.record], isComplete: true };
  }
  const { store, account, nowMs } = context;
  const instances = await activeInstances(store, account.id, { siteKey, limit: INSTANCES_MAX });
  if (instances.length === 0) throw new NoActiveInstanceError();
  const all: FoundVerdicts = { records: [], isComplete: true };
  for (let at = 0; at < instances.length; at += SEARCHED_AT_ONCE) {
    const group = instances.slice(at, at + SEARCHED_AT_ONCE);
    const pages = await Promise.all(
      group.map((instance) => {
        const filter = shortReferenceFilter(retentionHorizon(instance.retentionDays, nowMs), nowMs, reference);
        const request = { filter, before: null, offset: 0, limit: FOUND_VERDICTS_MAX + 1, wantTotal: false };
        return readPage(store, verdictLogOf(instance), request);
      }),
    );
    for (const { rows, next } of pages) {
      all.records.push(...rows.map(({ body }) => JSON.parse(body) as VerdictRecord));
      all.isComplete &&= next === null;
    }
    // More than an answer can hold. The other instances are left unread, so there may be newer verdicts in them.
    if (all.records.length > FOUND_VERDICTS_MAX) return { ...all, isComplete: false };
  }
  return all;
}
