/**
 * What visitors chose, such as paths and user agents, for a terminal: control characters would move the cursor, hide a line
 * or turn the direction of the text.
 */

export function printable(line: string): string {
  return line.replaceAll(/\p{C}/gu, '\u{FFFD}');
}

const CONTROLS = /[\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

/** JSON for programs. What controls a terminal is an escape. `indent`: 0 for one line. */
export function jsonText(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replaceAll(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
