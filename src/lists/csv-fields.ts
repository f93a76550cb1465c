/** One field of a CSV line. Lists have no line ends inside quotes, so each line is read alone, in one pass. */

export function csvField(line: string, column: number): string | null {
  let at = 0;
  for (let field = 0; ; field += 1) {
    const { text, end } = fieldAt(line, at);
    if (field === column) return text;
    if (end >= line.length) return null;
    at = end + 1;
  }
}

/** The place of a named column in a heading; -1 when it has none. Names are compared without case. */
export function columnOf(heading: string, name: string): number {
  const wanted = name.trim().toLowerCase();
  for (let column = 0; ; column += 1) {
    const field = csvField(heading, column);
    if (field === null) return -1;
    if (field.toLowerCase() === wanted) return column;
  }
}

/** `end`: the place of the comma behind it, or the end of the line. */
function fieldAt(line: string, start: number): { text: string; end: number } {
  let at = start;
  while (line.charAt(at) === ' ') at += 1;
  if (line.charAt(at) !== '"') {
    const comma = line.indexOf(',', at);
    const end = comma < 0 ? line.length : comma;
    return { text: line.slice(at, end).trim(), end };
  }
  let text = '';
  for (at += 1; at < line.length; at += 1) {
    if (line.charAt(at) !== '"') text += line.charAt(at);
    else if (line.charAt(at + 1) === '"') {
      text += '"';
      at += 1;
    } else break;
  }
  const comma = line.indexOf(',', at);
  return { text: text.trim(), end: comma < 0 ? line.length : comma };
}
