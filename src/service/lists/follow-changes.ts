/**
 * After a list was read: somebody may have deleted it meanwhile, or changed what it says. What was put in force for it is
 * then taken back, or follows the new settings.
 */
import { findList } from '../../store/d1/rule-lists.ts';
import type { StoredList } from '../../store/d1/rule-lists.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import type { ServiceStore } from '../environment.ts';

/** `read`: the list as it was when its reading began. Returns it as it is now. */
export async function followChanges(store: ServiceStore, read: StoredList, nowMs: number): Promise<StoredList | null> {
  const { instanceId, name } = read;
  const present = await findList(store, instanceId, name);
  if (present === null) {
    await ruleBook(store, instanceId).removeList(name, nowMs);
    return null;
  }
  const { verdict, mode } = present.settings;
  if (verdict !== read.settings.verdict || mode !== read.settings.mode) {
    await ruleBook(store, instanceId).putList({ name, verdict, mode }, nowMs);
  }
  return present;
}
