/**
 * Path patterns: `*` stays within a segment, `**` crosses segments, everything else is literal. Matched by hand and not by
 * a regular expression, so that a pattern with many wildcards and a long path cannot take the gate's CPU.
 */
export function compilePattern(pattern: string): (path: string) => boolean {
  const literal = pattern.indexOf('*');
  if (literal < 0) return (path) => path === pattern;
  const prefix = pattern.slice(0, literal);
  if (pattern === `${prefix}**`) return (path) => path.startsWith(prefix);
  const tokens = tokenise(pattern.slice(literal));
  return (path) => path.startsWith(prefix) && matchTokens(tokens, path, prefix.length);
}

type Token = '*' | '**' | { text: string };

function tokenise(pattern: string): Token[] {
  return pattern
    .split(/(\*+)/)
    .filter((part) => part !== '')
    .map((part) => (part === '*' ? '*' : part.startsWith('*') ? '**' : { text: part }));
}

/** Greedy, with one point of return per kind of wildcard: at most path × tokens steps between returns to `**`. */
function matchTokens(tokens: readonly Token[], path: string, from: number): boolean {
  let position = from;
  let index = 0;
  let star: { index: number; position: number } | null = null;
  let doubleStar: { index: number; position: number } | null = null;
  for (;;) {
    const token = tokens[index];
    if (token === undefined) {
      if (position === path.length) return true;
    } else if (token === '**') {
      doubleStar = { index: ++index, position };
      star = null;
      continue;
    } else if (token === '*') {
      star = { index: ++index, position };
      continue;
    } else if (path.startsWith(token.text, position)) {
      position += token.text.length;
      index++;
      continue;
    }
    if (star && star.position < path.length && path.charCodeAt(star.position) !== 47) {
      position = ++star.position;
      index = star.index;
    } else if (doubleStar && doubleStar.position < path.length) {
      position = ++doubleStar.position;
      index = doubleStar.index;
      star = null;
    } else {
      return false;
    }
  }
}
