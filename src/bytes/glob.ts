/**
 * Patterns with stars, matched by hand and not by regular expressions: a pattern with many stars and a long text cannot
 * take the gate's CPU.
 */

/**
 * Whether the literal pieces between the stars of a pattern make up the text. The leftmost place of each piece is always
 * right, so nothing is tried twice. Each star is at least `starChars` characters.
 */
export function matchesPieces(text: string, pieces: readonly string[], starChars = 0): boolean {
  const first = pieces[0]!;
  const last = pieces.length - 1;
  if (last === 0) return text === first;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (let at = 1; at < last; at++) {
    const piece = pieces[at]!;
    const found = text.indexOf(piece, from + starChars);
    if (found < 0) return false;
    from = found + piece.length;
  }
  const end = pieces[last]!;
  return text.length - end.length >= from + starChars && text.endsWith(end);
}

/** A pattern of paths: `*` stays within a segment, `**` crosses segments, everything else is literal. */
export function compilePathGlob(pattern: string): (path: string) => boolean {
  const literal = pattern.indexOf('*');
  if (literal < 0) return (path) => path === pattern;
  const prefix = pattern.slice(0, literal);
  if (pattern === `${prefix}**`) return (path) => path.startsWith(prefix);
  // Literals and wildcards in turn. The first literal is empty, because the prefix is compared by itself.
  const parts = pattern.slice(literal).split(/(\*+)/);
  return (path) => path.startsWith(prefix) && matchesFrom(prefix.length, path, parts);
}

/**
 * Keeps the stretches of the path in which the next literal may begin. They do not overlap and only move on, so all
 * searches for a literal together read the path once, and they are the runtime's own.
 */
function matchesFrom(start: number, path: string, parts: readonly string[]): boolean {
  let stretches: [first: number, last: number][] = [[start, start]];
  for (let part = 0; part < parts.length - 1; part += 2) {
    const text = parts[part]!;
    const next: typeof stretches = [];
    let at = -1;
    for (const [first, last] of stretches) {
      if (at < first) at = path.indexOf(text, first);
      while (at >= 0 && at <= last) {
        const end = at + text.length;
        const slash = parts[part + 1] === '*' ? path.indexOf('/', end) : -1;
        next.push([end, slash < 0 ? path.length : slash]);
        // One that ends within this stretch would open nothing new.
        at = slash < 0 ? -1 : path.indexOf(text, Math.max(at, slash - text.length) + 1);
      }
      if (at < 0) break;
    }
    stretches = next;
  }
  const text = parts.at(-1)!;
  const at = path.length - text.length;
  return path.endsWith(text) && stretches.some(([first, last]) => first <= at && at <= last);
}
