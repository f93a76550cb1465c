/**
 * JSON for programs, which is safe on a terminal too: characters that control it, or turn the direction of the text, are
 * escapes. They come from visitors, in paths and user agents.
 */
const CONTROLS = /[\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

/** `indent`: 0 for one line. */
export function jsonText(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replaceAll(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
