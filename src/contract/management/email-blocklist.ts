/**
 * A site's `customRegexBlocklist`: patterns that refuse an email address. They run on text that visitors typed.
 * JavaScript's engine backtracks, so a pattern such as `(a|a)*!` would hold a Worker for minutes. re2js matches in
 * time linear in the text, and all patterns of a list run in one pass. The syntax is RE2's: no look-around and no
 * back references, because no linear-time matcher can have them.
 */
import { RE2JS, RE2JSException, RE2JSSyntaxException, RE2Set } from 're2js';

/** Instructions of all patterns of a list together; the slowest list this size takes 40 ms on the longest address. */
const INSTRUCTIONS_MAX = 4096;
/** Memory for the states of one list. A Worker holds the lists of many sites in 128 MB. */
const AUTOMATON_BYTES_MAX = 256 * 1024;
/** 64 characters of local part, `@`, and a domain of 253 fit. */
const TEXT_CHARS_MAX = 320;

export interface BlocklistProblem {
  /** Position of the pattern in the list. */
  index: number;
  message: string;
}

/** The first reason why a list cannot be saved, or `null`. */
export function blocklistProblem(sources: readonly string[]): BlocklistProblem | null {
  let instructions = 0;
  for (const [index, source] of sources.entries()) {
    try {
      instructions += RE2JS.compile(source, RE2JS.CASE_INSENSITIVE).programSize();
    } catch (error) {
      if (error instanceof RE2JSException) return { index, message: syntaxMessage(error) };
      throw error;
    }
    if (instructions > INSTRUCTIONS_MAX) {
      return { index, message: 'the patterns are too large together: use fewer patterns or smaller counts' };
    }
  }
  return null;
}

/** Whether any pattern matches anywhere in a text, in upper or lower case. */
export type EmailBlocklist = (text: string) => boolean;

/** @throws RE2JSException for a list that `blocklistProblem` refuses. */
export function compileBlocklist(sources: readonly string[]): EmailBlocklist {
  if (sources.length === 0) return () => false;
  const patterns = new RE2Set(RE2Set.UNANCHORED, RE2JS.CASE_INSENSITIVE, AUTOMATON_BYTES_MAX);
  for (const source of sources) patterns.add(source);
  patterns.compile();
  return (text) => patterns.match(text.slice(0, TEXT_CHARS_MAX)).length > 0;
}

function syntaxMessage(error: RE2JSException): string {
  if (!(error instanceof RE2JSSyntaxException)) return `not an RE2 pattern: ${error.message}`;
  // The flag for ignoring case is part of what re2js parses.
  const fragment = (error.getPattern() ?? '').replace(/^\(\?i\)/, '');
  if (/^\(\?<?[=!]/.test(fragment)) return `look-around such as ${fragment.slice(0, 4)} is not supported`;
  if (/^\\[1-9k]/.test(fragment)) return `the back reference ${fragment} is not supported`;
  const description = error.getDescription();
  return `not an RE2 pattern: ${description}${fragment === '' ? '' : ` in ${fragment}`}`;
}
