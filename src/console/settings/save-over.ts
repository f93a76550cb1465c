/**
 * Saves changed members over the version that a form shows. Two people who change different members do not undo each
 * other, and of two who change the same one, the second is told.
 */
import { failed, type Result } from '../../result.ts';
import type { Refusal } from '../api/call.ts';

export type SettingValues = Readonly<Record<string, unknown>>;

export interface Stored {
  values: SettingValues;
  version: number;
}

export interface SavePorts {
  load: () => Promise<Result<Stored, Refusal>>;
  /** Refused with 409 when the stored version is another one by now. */
  save: (changes: SettingValues, ifVersion: number) => Promise<Result<Stored, Refusal>>;
  /** What a member is called where people read. */
  labelOf?: (name: string) => string;
}

/** The members whose value differs, each whole, as the API replaces them. */
export function changedMembers<Values extends object>(
  names: readonly string[],
  stored: object,
  current: Values,
): Partial<Values> {
  const [before, now] = [stored, current] as [SettingValues, SettingValues];
  const changed = names.filter((name) => !isSame(before[name], now[name]) && now[name] !== undefined);
  return Object.fromEntries(changed.map((name) => [name, now[name]])) as Partial<Values>;
}

/** Somebody else's change of another member refuses a write too. */
const ATTEMPTS = 4;

/** @returns what is stored now, as far as it is known, and why nothing was saved. */
export async function saveOver(
  shown: Stored,
  changes: SettingValues,
  { load, save, labelOf = (name) => name }: SavePorts,
): Promise<{ stored: Stored; error: Refusal | null }> {
  let known = shown;
  for (let attempt = 1; ; attempt += 1) {
    const answer = await save(changes, known.version);
    if (answer.ok) return { stored: answer.value, error: null };
    const newer = answer.error.status === 409 ? await load() : null;
    if (newer === null || !newer.ok || newer.value.version === known.version || attempt === ATTEMPTS) {
      return { stored: known, error: answer.error };
    }
    const { values } = newer.value;
    const before = known.values;
    known = newer.value;
    const taken = takenMembers(before, values, changes);
    if (taken.length > 0)
      return { stored: known, error: { ...answer.error, details: [], message: conflictText(taken.map(labelOf)) } };
  }
}

/**
 * Members of `changes` that somebody else has changed. A value that is what was to be saved was saved before, by a call
 * whose response was lost.
 */
export function takenMembers(before: SettingValues, now: SettingValues, changes: SettingValues): string[] {
  return Object.keys(changes).filter((name) => !isSame(before[name], now[name]) && !isSame(now[name], changes[name]));
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function conflictText(names: readonly string[]): string {
  return `Somebody else has changed ${names.join(', ')} meanwhile. Nothing was saved. Your values are still in the form: save again to replace theirs, or discard to see them.`;
}

export interface LookPorts<Kept> {
  load: () => Promise<Result<Kept, Refusal>>;
  save: () => Promise<Result<Kept, Refusal>>;
}

/**
 * Saves changed members of something that has no version. It looks at what is stored first: of two people who change the
 * same member, the second is told. A change between the look and the write is not seen.
 *
 * @param known what was stored when somebody last looked. It becomes what is stored now, so that saving again replaces
 *   what somebody else has written.
 */
export async function saveAfterLook<Kept extends object>(
  known: { current: Kept },
  changes: object,
  { load, save }: LookPorts<Kept>,
): Promise<Result<Kept, Refusal>> {
  const now = await load();
  if (!now.ok) return now;
  const taken = takenMembers(known.current as SettingValues, now.value as SettingValues, changes as SettingValues);
  known.current = now.value;
  if (taken.length === 0) return save();
  return failed({ status: 409, key: 'API.CONFLICT', message: conflictText(taken), details: [], requestId: null });
}
