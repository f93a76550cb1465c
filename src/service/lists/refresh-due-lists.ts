/**
 * The scheduled reading of lists: a few in each run, one after the other, because a list of a million entries takes much
 * of an isolate's memory. A list that was not read well for longer than it may be loses its effect.
 */
import {
  beginReading,
  dueLists,
  listsThatExpire,
  lostReadings,
  noteExpired,
} from '../../store/d1/rule-list-readings.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import type { ServiceStore } from '../environment.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { noteFailed, READING_MS, refreshList } from './refresh-list.ts';

/** One task must not use up the time and the subrequests of the whole run. */
const LISTS_PER_RUN = 4;
const RUN_MS = 4 * 60_000;
const LOST_PER_RUN = 20;
const EXPIRED_PER_RUN = 20;

/** `nowMs`: which lists are due. What a reading holds and notes is by the clock, because readings before it take time. */
export async function refreshDueLists(store: ServiceStore, nowMs: number, outbound: OutboundSettings): Promise<void> {
  const context = { store, outbound, now: Date.now };
  for (const lost of await lostReadings(store, LOST_PER_RUN, nowMs)) {
    await noteFailed(context, lost, 'The last reading did not end. The list may be too large', true);
  }
  const endsAt = Date.now() + RUN_MS;
  for (const due of await dueLists(store, LISTS_PER_RUN, nowMs)) {
    if (Date.now() > endsAt) break;
    const list = await beginReading(store, due, Date.now() + READING_MS, Date.now());
    if (list !== null) await refreshList(context, list);
  }
  for (const due of await listsThatExpire(store, EXPIRED_PER_RUN, nowMs)) {
    const list = await beginReading(store, due, Date.now() + READING_MS, Date.now());
    if (list === null) continue;
    await ruleBook(store, list.instanceId).removeList(list.name, nowMs);
    await noteExpired(store, list);
    console.warn(JSON.stringify({ event: 'list-expired', instance: list.instanceId, list: list.name }));
  }
}
