/**
 * The verdicts that a reference can be of, in any instance of the account. A short form is looked for in the 67 seconds
 * that it names, six instances at a time, and no further once there are more verdicts than an answer holds. A search
 * opens at most 200 row groups of 1,000 verdicts for each instance: 60,000 for an account with 300 instances that all
 * log 200,000 verdicts in that time. `siteKey` narrows it.
 */
import {
  FOUND_VERDICTS_MAX,
  referenceSearchRequest,
  referenceSearchResponse,
} from '../../../../contract/management/verdict-explanation.ts';
import { protectOperation, type OperationContext } from '../../define-operation.ts';
import { explainedVerdict } from './verdict-pages.ts';
import { SHORT_REFERENCE } from '../../../../contract/edge/short-reference.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { activeInstancesOf, type StoredInstance } from '../../../../store/d1/instances.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import { verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import { retentionHorizon } from '../../../../store/event-log/retention.ts';
import { NoActiveInstanceError } from '../../operation-error.ts';
import { rowFilter, shortReferenceFilter } from './verdict-log-query.ts';

export const findReference = protectOperation({
  name: 'find-reference',
  path: '/protect/verdicts/find',
  access: 'read',
  summary: 'Find the verdicts of a reference, whole or short',
  body: referenceSearchRequest,
  response: referenceSearchResponse,
  async handler(context) {
    const { reference, siteKey } = context.body;
    const { records, isComplete } = await findVerdicts(context, reference, siteKey);
    const newest = records.toSorted((one, other) => other.timestamp - one.timestamp);
    return {
      verdicts: newest.slice(0, FOUND_VERDICTS_MAX).map(explainedVerdict),
      isComplete: isComplete && newest.length <= FOUND_VERDICTS_MAX,
    };
  },
});

/** As many as an account can have. */
const INSTANCES_MAX = 300;
const SEARCHED_AT_ONCE = 6;

export interface FoundVerdict {
  record: VerdictRecord;
  instance: StoredInstance;
}

/** A visitor who quotes a reference does not know which instance they met. @throws NoActiveInstanceError */
export async function findVerdict(
  context: Pick<OperationContext<unknown>, 'store' | 'account' | 'nowMs'>,
  requestId: string,
  siteKey: string | undefined,
): Promise<FoundVerdict | null> {
  const { store, account } = context;
  const instances = await activeInstancesOf(store, account.id, { siteKey, limit: INSTANCES_MAX });
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

interface FoundVerdicts {
  records: VerdictRecord[];
  isComplete: boolean;
}

/** A whole reference has one verdict at most, a short one may have several. @throws NoActiveInstanceError */
async function findVerdicts(
  context: Pick<OperationContext<unknown>, 'store' | 'account' | 'nowMs'>,
  reference: string,
  siteKey: string | undefined,
): Promise<FoundVerdicts> {
  if (!SHORT_REFERENCE.test(reference)) {
    const found = await findVerdict(context, reference, siteKey);
    return { records: found === null ? [] : [found.record], isComplete: true };
  }
  const { store, account, nowMs } = context;
  const instances = await activeInstancesOf(store, account.id, { siteKey, limit: INSTANCES_MAX });
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
