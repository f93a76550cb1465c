/** Compares a text of the request with the values of a test. No regular expression: a visitor's text cannot slow it down. */
import { compilePathGlob, matchesPieces } from '../../bytes/glob.ts';
import { canonicalPath, canonicalSpelling, spelledEscapes } from '../../bytes/url-path.ts';
import { foldCase } from '../../rules/user-agent-fold.ts';
import type { PolicyTest } from '../expression.ts';

type TextMatch = (text: string) => boolean;

/** The values of a test, in the spelling of what they are compared with. */
export function spelledValues({ field, operator, value }: PolicyTest): string[] {
  return (Array.isArray(value) ? value : [value]).map((one) => {
    const text = String(one);
    if (field === 'path') return canonicalPathValue(text, operator);
    if (field === 'userAgent') return foldCase(text);
    return field === 'host' || field === 'ja4' ? text.toLowerCase() : text;
  });
}

/**
 * A path or a piece of one, as a request's canonical path spells it. Only whole segments at its start resolve `.` and `..`.
 * Elsewhere these are text: `startsWith "/."` means hidden files, not every path.
 */
function canonicalPathValue(value: string, operator: PolicyTest['operator']): string {
  // The parser of URLs would drop these characters, and an empty piece would be in every path.
  const text = spelledEscapes(value.replace(/[\0- ?#]/g, encodeURIComponent)).replaceAll('\\', '/');
  const wholeEnd = endOfWholeSegments(text, operator);
  const start = wholeEnd > 0 ? canonicalPath(text.slice(0, wholeEnd)) : '';
  // The letter before each segment keeps the parser from resolving dots.
  const rest = canonicalPath(`/x${text.slice(wholeEnd).replaceAll('/', '/x')}`).replaceAll('/x', '/');
  return canonicalSpelling(start + rest.slice(1));
}

function endOfWholeSegments(text: string, operator: PolicyTest['operator']): number {
  if (operator === 'contains' || operator === 'endsWith') return 0;
  const end = operator === 'startsWith' ? text.length : operator === 'matches' ? text.indexOf('*') : -1;
  return end < 0 ? text.length : text.lastIndexOf('/', end) + 1;
}

export function compileTextMatch({ field, operator }: PolicyTest, values: readonly string[]): TextMatch | null {
  const value = values[0] ?? '';
  switch (operator) {
    case 'equals':
      return (text) => text === value;
    case 'in': {
      const set = new Set(values);
      return (text) => set.has(text);
    }
    case 'startsWith':
      return (text) => text.startsWith(value);
    case 'endsWith':
      return (text) => text.endsWith(value);
    case 'contains':
      return (text) => text.includes(value);
    case 'matches': {
      if (field === 'path') return compilePathGlob(value);
      // Anywhere else a star is any text.
      const pieces = value.split(/\*+/);
      return (text) => matchesPieces(text, pieces);
    }
    default:
      return null;
  }
}
