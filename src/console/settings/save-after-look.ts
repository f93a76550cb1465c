/**
 * Saves changed members of something that has no version. It looks at what is stored first: of two people who change the
 * same member, the second is told. A change between the look and the write is not seen.
 */
import { failed, type Result } from '../../result.ts';
import type { Refusal } from '../api/send.ts';
import type { Values } from './draft.ts';
import { conflictText, takenMembers } from './save-over.ts';

export interface LookPorts<Stored> {
  load: () => Promise<Result<Stored, Refusal>>;
  save: () => Promise<Result<Stored, Refusal>>;
}

/**
 * @param known what was stored when somebody last looked. It becomes what is stored now, so that saving again replaces
 *   what somebody else has written.
 */
export async function saveAfterLook<Stored extends object>(
  known: { current: Stored },
  changes: object,
  { load, save }: LookPorts<Stored>,
): Promise<Result<Stored, Refusal>> {
  const now = await load();
  if (!now.ok) return now;
  const taken = takenMembers(known.current as Values, now.value as Values, changes as Values);
  known.current = now.value;
  if (taken.length === 0) return save();
  return failed({ status: 409, key: 'API.CONFLICT', message: conflictText(taken), details: [], requestId: null });
}
