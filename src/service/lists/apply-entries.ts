/**
 * Puts a reading of a list in force: first it counts what would change, then it changes that, in parts and in order. A
 * run that ends early leaves a list that is partly new; the next one completes it, because it compares again.
 */
import { entryChanges, isTooMuchChange } from '../../lists/difference.ts';
import type { EntryChanges } from '../../lists/difference.ts';
import { lastKeyOf } from '../../lists/entry-key.ts';
import type { SortedEntries } from '../../lists/entry-set.ts';
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import type { ListSettings, ListState } from '../../store/rule-book/list-rpc.ts';
import type { RuleBookRpc } from '../../store/rule-book/rpc.ts';

/** Of one part that is read: about 300 KB. */
const READ_KEYS = 20_000;
/** Of one version. More of them make the delta of each edge larger, and fewer keep other writers waiting. */
const CHANGES_PER_VERSION = 20_000;

type ListBook = Pick<RuleBookRpc, 'putList' | 'listKeys' | 'changeList' | 'lists'>;

export interface Applied {
  added: number;
  removed: number;
  entries: number;
}

/** `hasChanged`: some of it is in force. */
export interface NotApplied {
  message: string;
  hasChanged: boolean;
}

export interface ChangeCount {
  present: number;
  added: number;
  removed: number;
}

/** What `next` would change of a list, without changing it. An unknown list has no entries. */
export async function countChanges(book: ListBook, name: string, next: SortedEntries): Promise<ChangeCount> {
  const present = (await book.lists()).find((list) => list.name === name)?.entries ?? 0;
  let [added, removed] = [0, 0];
  for await (const { add, remove } of entryChanges(partsOf(book, name), next, CHANGES_PER_VERSION)) {
    added += add.length;
    removed += remove.length;
  }
  return { present, added, removed };
}

/** `maxChangePercent: null`: any change is accepted. */
export async function applyEntries(
  book: ListBook,
  settings: ListSettings,
  next: SortedEntries,
  maxChangePercent: number | null,
  now: () => number,
): Promise<Result<Applied, NotApplied>> {
  const counted = await countChanges(book, settings.name, next);
  const refusal = refusedChange(counted, maxChangePercent);
  if (refusal !== null) return failed({ message: refusal, hasChanged: false });
  return applyChanges(book, settings, entryChanges(partsOf(book, settings.name), next, CHANGES_PER_VERSION), now);
}

export function refusedChange({ present, added, removed }: ChangeCount, maxPercent: number | null): string | null {
  if (maxPercent === null || !isTooMuchChange(present, added, removed, maxPercent)) return null;
  return `The list changed by more than ${maxPercent} %: ${added} entries are new and ${removed} of ${present} would go`;
}

export async function applyChanges(
  book: ListBook,
  settings: ListSettings,
  changes: AsyncIterable<EntryChanges>,
  now: () => number,
): Promise<Result<Applied, NotApplied>> {
  const put = await book.putList(settings, now());
  if (!put.ok) {
    return failed({ message: `An instance holds at most ${put.error.limit} lists`, hasChanged: false });
  }
  let state: ListState = put.value;
  let [added, removed] = [0, 0];
  for await (const { add, remove } of changes) {
    const change = { ifRevision: state.revision, add: add.join(''), remove: remove.join('') };
    const made = await book.changeList(settings.name, change, now());
    if (!made.ok) return failed({ message: changeErrorText(made.error), hasChanged: added + removed > 0 });
    state = made.value;
    added += add.length;
    removed += remove.length;
  }
  return ok({ added, removed, entries: state.entries });
}

function changeErrorText(error: { reason: string; limit?: number }): string {
  if (error.reason === 'too-many-rules') {
    return `An instance holds at most ${error.limit} rules and entries of lists`;
  }
  return 'The list was changed by somebody else at the same time';
}

async function* partsOf(book: ListBook, name: string): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const part = await book.listKeys(name, after, READ_KEYS);
    if (part === null || part.keys === '') return;
    yield part.keys;
    after = lastKeyOf(part.keys);
  }
}
