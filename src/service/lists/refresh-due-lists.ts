/**
 * The scheduled reading of lists: a few in each run, one after the other, because a list of a million entries takes much
 * of an isolate's memory. A list that was not read well for longer than it may be loses its effect.
 */
import { listsThatExpire, noteExpired, takeDueLists } from '../../store/d1/rule-lists.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import type { ServiceStore } from '../environment.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { refreshList } from './refresh-list.ts';

/** One task must not use up the time and the subrequests of the whole run. */
const LISTS_PER_RUN = 4;
const EXPIRED_PER_RUN = 20;
/** Longer than a refresh takes: after that, a run that ended early has surely ended. */
const RETRY_MS = 10 * 60_000;

export async function refreshDueLists(store: ServiceStore, nowMs: number, outbound: OutboundSettings): Promise<void> {
  for (const list of await takeDueLists(store, LISTS_PER_RUN, nowMs, nowMs + RETRY_MS)) {
    await refreshList({ store, outbound, now: Date.now }, list);
  }
  for (const list of await listsThatExpire(store, EXPIRED_PER_RUN, nowMs)) {
    await ruleBook(store, list.instanceId).removeList(list.name, nowMs);
    await noteExpired(store, list);
    console.warn(JSON.stringify({ event: 'list-expired', instance: list.instanceId, list: list.name }));
  }
}
