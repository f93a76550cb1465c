/** Recognises an expression of Cloudflare's Rules language where a condition is expected. */

/** Cloudflare's fields, whose names have dots. No word of a condition has one. */
const FIELD = /(?:^|[\s(!,])(?:(?:cf|http|ip|raw)\.[a-z]|ssl\b)/;
const TEXT = /r?#*"(?:[^"\\]|\\.)*"?/g;

export function looksLikeCloudflare(text: string): boolean {
  return FIELD.test(text.replace(TEXT, '""'));
}
