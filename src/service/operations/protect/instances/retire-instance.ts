/** What follows when an instance became inactive: its rules go within seconds, its verdicts and sessions a minute later. */
import { attackWatch } from '../../../../store/attack-watch/client.ts';
import { deleteListsOf } from '../../../../store/d1/rule-lists.ts';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import { telemetryLogOf } from '../../../../store/event-log/client/telemetry-log.ts';
import { retireLog, verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import { retireRisk } from '../../../../store/risk-book/client/session-risk.ts';
import type { OperationContext } from '../../define-operation.ts';

export async function retireInstance(
  { store, nowMs, waitUntil }: Pick<OperationContext<unknown>, 'store' | 'nowMs' | 'waitUntil'>,
  id: string,
): Promise<void> {
  await Promise.all([ruleBook(store, id).retire(nowMs), attackWatch(store, id).retire()]);
  await deleteListsOf(store, id);
  // About twenty objects, after the response. If that is cut short, the scheduled run does it again.
  const logs = [verdictLogOf({ id }), telemetryLogOf({ id })];
  waitUntil(Promise.all([...logs.map((log) => retireLog(store, log, nowMs)), retireRisk(store, id, nowMs)]));
}
