/** Compares a text of the request with the values of a test. No regular expression: a visitor's text cannot slow it down. */
import { canonicalPath, canonicalSpelling } from '../../bytes/url-path.ts';
import { foldCase } from '../../rules/user-agent-fold.ts';
import type { PolicyTest } from '../expression.ts';
import { compilePattern } from './path-glob.ts';

export type TextMatch = (text: string) => boolean;
type Spell = (text: string) => string;

/** The values of a test, in the spelling of what they are compared with. */
export function spelledValues({ field, operator, value }: PolicyTest): string[] {
  const values = (Array.isArray(value) ? value : [value]).map(String);
  return values.map(spellingOf(field, operator));
}

function spellingOf(field: PolicyTest['field'], operator: PolicyTest['operator']): Spell {
  if (field === 'path') return operator === 'contains' || operator === 'endsWith' ? canonicalPart : canonicalWhole;
  if (field === 'userAgent') return foldCase;
  return field === 'host' || field === 'ja4' ? (text) => text.toLowerCase() : (text) => text;
}

/** A pattern that begins with `*` has no path's beginning to resolve. */
function canonicalWhole(path: string): string {
  return path.startsWith('/') ? canonicalPath(path) : canonicalPart(path);
}

/** A piece of a path has no dot segments to resolve, and its first segment has no beginning. */
function canonicalPart(piece: string): string {
  return canonicalSpelling(
    piece
      .split('/')
      .map((segment) => (/^\.{0,2}$/.test(segment) ? segment : canonicalPath(`/${segment}`).slice(1)))
      .join('/'),
  );
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
    case 'matches':
      return field === 'path' ? compilePattern(value) : compileTextGlob(value);
    default:
      return null;
  }
}

/** `*` is any text. The leftmost place of each piece is always right, so nothing is tried twice. */
function compileTextGlob(pattern: string): TextMatch {
  const pieces = pattern.split(/\*+/);
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (pieces.length === 1) return (text) => text === first;
  const middle = pieces.slice(1, -1);
  return (text) => {
    if (!text.startsWith(first)) return false;
    let from = first.length;
    for (const piece of middle) {
      const found = text.indexOf(piece, from);
      if (found < 0) return false;
      from = found + piece.length;
    }
    return text.length - last.length >= from && text.endsWith(last);
  };
}
