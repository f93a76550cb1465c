/**
 * What is in force of a list follows its settings: after they were changed, and after it was read, because somebody may
 * have changed or deleted it meanwhile.
 */
import { findList, type StoredList } from '../../store/d1/rule-lists.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import type { RuleBookRpc } from '../../store/rule-book/rpc.ts';
import type { ServiceStore } from '../environment.ts';

/** `read`: the list as it was when its reading began. Returns it as it is now. */
export async function followChanges(store: ServiceStore, read: StoredList, nowMs: number): Promise<StoredList | null> {
  const book = ruleBook(store, read.instanceId);
  const present = await findList(store, read.instanceId, read.name);
  if (present === null || present.birth !== read.birth) {
    await book.removeList(read.name, nowMs);
    return null;
  }
  await followSettings(book, present, nowMs);
  return present;
}

/** A list that is not in force, because it expired or was never read, comes with its next reading. */
export async function followSettings(
  book: Pick<RuleBookRpc, 'lists' | 'putList'>,
  { name, settings }: Pick<StoredList, 'name' | 'settings'>,
  nowMs: number,
): Promise<void> {
  const inForce = (await book.lists()).find((list) => list.name === name);
  if (inForce === undefined) return;
  // The decisions of CrowdSec are chosen by the verdict, so with another one they have to be read first.
  const verdict = settings.format === 'crowdsec' ? inForce.verdict : settings.verdict;
  const { mode } = settings;
  if (verdict !== inForce.verdict || mode !== inForce.mode) await book.putList({ name, verdict, mode }, nowMs);
}
