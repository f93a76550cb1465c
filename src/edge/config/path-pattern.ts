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

/** One pass over the path per token. A marked position is one where the tokens so far can end. */
function matchTokens(tokens: readonly Token[], path: string, from: number): boolean {
  let ends = new Uint8Array(path.length + 1);
  ends[from] = 1;
  for (const token of tokens) {
    const next = new Uint8Array(ends.length);
    if (typeof token === 'object') {
      for (let at = ends.indexOf(1); at >= 0; at = ends.indexOf(1, at + 1)) {
        if (path.startsWith(token.text, at)) next[at + token.text.length] = 1;
      }
    } else {
      let isOpen = 0;
      for (let at = from; at < ends.length; at++) {
        isOpen |= ends[at]!;
        next[at] = isOpen;
        if (token === '*' && path.charCodeAt(at) === 47) isOpen = 0;
      }
    }
    ends = next;
  }
  return ends[path.length] === 1;
}
