/**
 * Puts a reading of a list in force: first it counts what would change and whether there is room, then it changes that, in
 * parts and in order. A run that is stopped leaves a list that is partly new; the next one completes it, because it
 * compares again.
 */
import { CoveredSpace } from '../../lists/covered-space.ts';
import {
  type ChangeBounds,
  type EntryChanges,
  entryChanges,
  entryChangesOf,
  isTooMuchChange,
} from '../../lists/difference.ts';
import { lastKeyOf } from '../../lists/entry-key.ts';
import type { SortedEntries } from '../../lists/entry-set.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { LayerSettings, ListState } from '../../store/rule-book/list-rpc.ts';
import type { RuleBookRpc } from '../../store/rule-book/rpc.ts';

/** Of one part that is read: about 300 KB. */
const READ_KEYS = 20_000;
/** Of one version. More of them make the delta of each edge larger, and fewer keep other writers waiting. */
const CHANGES_PER_VERSION = 20_000;

type ListBook = Pick<RuleBookRpc, 'putList' | 'listKeys' | 'changeList' | 'lists' | 'roomForEntries'>;

interface Applied {
  added: number;
  removed: number;
  entries: number;
}

/** `hasChanged`: some of it is in force. */
export interface NotApplied {
  message: string;
  hasChanged: boolean;
}

interface ChangeCount {
  present: number;
  added: number;
  removed: number;
}

interface Counted extends ChangeCount {
  space: CoveredSpace;
}

/** What `next` would change of a list, without changing it. An unknown list has no entries. */
export async function countChanges(book: ListBook, name: string, next: SortedEntries): Promise<Counted> {
  const present = (await book.lists()).find((list) => list.name === name)?.entries ?? 0;
  const space = new CoveredSpace();
  let [added, removed] = [0, 0];
  for await (const { add, remove } of differenceOf(book, name, next)) {
    for (const key of add) space.add(key);
    added += add.length;
    removed += remove.length;
  }
  return { present, added, removed, space };
}

/** `bounds: null`: any change is accepted. */
export async function applyEntries(
  book: ListBook,
  settings: LayerSettings,
  next: SortedEntries,
  bounds: ChangeBounds | null,
  now: () => number,
): Promise<Result<Applied, NotApplied>> {
  const counted = await countChanges(book, settings.name, next);
  const room = await book.roomForEntries();
  const refusal = refusedChange(counted, bounds) ?? noRoom(counted, room);
  if (refusal !== null) return failed({ message: refusal, hasChanged: false });
  const known = (await book.lists()).find(({ name }) => name === settings.name);
  const changes = differenceOf(book, settings.name, next);
  const isOtherVerdict = known !== undefined && known.verdict !== settings.verdict;
  if (known === undefined || (!isOtherVerdict && counted.added <= room)) {
    return applyChanges(book, settings, changes, now);
  }
  // What goes makes room for what comes, and must never act under another verdict.
  const gone = await applyChanges(book, known, removalsOf(changes), now);
  if (!gone.ok) return gone;
  const { removed } = gone.value;
  const come = await applyChanges(book, settings, differenceOf(book, settings.name, next), now);
  if (!come.ok) return failed({ ...come.error, hasChanged: come.error.hasChanged || removed > 0 });
  return ok({ ...come.value, removed: come.value.removed + removed });
}

/** The changes that a publisher tells. */
export async function applyTold(
  book: ListBook,
  settings: LayerSettings,
  { present, deleted, added }: { present: number; deleted: SortedEntries; added: SortedEntries },
  bounds: ChangeBounds | null,
  now: () => number,
): Promise<Result<Applied, NotApplied>> {
  const space = new CoveredSpace();
  for (let at = 0; at < added.length; at += 1) space.add(added.key(at));
  const counted = { present, added: added.length, removed: deleted.length, space };
  // Whether what was deleted is there is not known, so it makes no room.
  const refusal = refusedChange(counted, bounds) ?? noRoom({ ...counted, removed: 0 }, await book.roomForEntries());
  if (refusal !== null) return failed({ message: refusal, hasChanged: false });
  return applyChanges(book, settings, entryChangesOf(deleted, added), now);
}

function refusedChange({ present, added, removed, space }: Counted, bounds: ChangeBounds | null): string | null {
  if (bounds === null || bounds.maxPercent >= 100) return null;
  if (isTooMuchChange(present, added, removed, bounds)) {
    return `The list changed by more than ${bounds.maxPercent} %: ${added} entries are new and ${removed} of ${present} would go`;
  }
  return space.excess === null ? null : `The new entries of the list cover ${space.excess}`;
}

function noRoom({ added, removed }: ChangeCount, room: number): string | null {
  return added - removed > room ? tooManyText(added - removed, room) : null;
}

async function applyChanges(
  book: ListBook,
  { name, verdict, mode }: LayerSettings,
  changes: AsyncIterable<EntryChanges>,
  now: () => number,
): Promise<Result<Applied, NotApplied>> {
  const put = await book.putList({ name, verdict, mode }, now());
  if (!put.ok) {
    return failed({ message: `An instance holds at most ${put.error.limit} lists`, hasChanged: false });
  }
  let state: ListState = put.value;
  let [added, removed] = [0, 0];
  for await (const { add, remove } of changes) {
    const change = { ifRevision: state.revision, add: add.join(''), remove: remove.join('') };
    const made = await book.changeList(name, change, now());
    if (!made.ok) return failed({ message: changeErrorText(made.error), hasChanged: added + removed > 0 });
    state = made.value;
    added += add.length;
    removed += remove.length;
  }
  return ok({ added, removed, entries: state.entries });
}

function changeErrorText(error: { reason: string; limit?: number }): string {
  if (error.reason === 'too-many-rules') return `An instance holds at most ${error.limit} rules and entries of lists`;
  return 'The list was changed by somebody else at the same time';
}

function tooManyText(more: number, room: number): string {
  return `The list would have ${more} entries more than now, and the instance has room for ${room} rules and entries`;
}

function differenceOf(book: ListBook, name: string, next: SortedEntries): AsyncGenerator<EntryChanges> {
  return entryChanges(partsOf(book, name), next, CHANGES_PER_VERSION);
}

async function* removalsOf(changes: AsyncIterable<EntryChanges>): AsyncGenerator<EntryChanges> {
  for await (const { remove } of changes) if (remove.length > 0) yield { add: [], remove };
}

async function* partsOf(book: ListBook, name: string): AsyncGenerator<string> {
  for (let after = ''; ;) {
    const part = await book.listKeys(name, after, READ_KEYS);
    if (part === null || part.keys === '') return;
    yield part.keys;
    after = lastKeyOf(part.keys);
  }
}
