/**
 * Node reads HTTP headers as text in which each character stands for one byte. Workers read them as UTF-8, and lose each
 * byte that is none. Escaped here, such a byte reaches the rules and the log.
 */

/** A character in UTF-8, or else one byte above ASCII that belongs to none. */
const CHARACTER_OR_BYTE =
  // oxlint-disable-next-line no-control-regex -- bytes, not text
  /[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|([\x80-\xff])/g;

/** Bytes that are no UTF-8 as `\xe9`; the others stay, so that the result is UTF-8. */
export function escapeInvalidUtf8(bytes: string): string {
  return bytes.replace(CHARACTER_OR_BYTE, (character, byte: string | undefined) =>
    byte === undefined ? character : String.raw`\x${byte.charCodeAt(0).toString(16)}`,
  );
}
