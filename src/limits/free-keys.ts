/**
 * Keys with a part that visitors write freely are marked: one visitor can make as many of them as they like. Whatever
 * keeps keys leaves an eighth of its room to the others, so that nobody can stop the limits by address, network and
 * session. Pure.
 */
export const FREE_MARK = '~';
const FREE_SHARE = 7 / 8;

/** Whether one more key has room beside those that are kept. */
export function hasRoomFor(key: string, kept: number, max: number): boolean {
  return kept < (key.startsWith(FREE_MARK) ? max * FREE_SHARE : max);
}
