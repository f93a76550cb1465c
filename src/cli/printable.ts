/** What visitors chose, for a terminal. Control characters would move the cursor or hide a line. */
export function printable(line: string): string {
  return line.replaceAll(/\p{C}/gu, '\u{FFFD}');
}
