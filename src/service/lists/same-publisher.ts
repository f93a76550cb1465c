/**
 * Whether what was stored for one source of a list may be used for another: a stored secret goes to the host that it was
 * stored for, and to no other.
 */
import type { ListSettings } from '../../contract/management/lists.ts';

type Source = Pick<ListSettings, 'url'>;

export function isSamePublisher(stored: Source, wanted: Source): boolean {
  return originOf(stored) === originOf(wanted);
}

/** `null`: a list that is replaced as a file. */
function originOf({ url }: Source): string | null {
  return url === null ? null : new URL(url).origin;
}
