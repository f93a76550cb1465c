/** Where in a condition its error is, for a mark in the text and a sentence below it. */
import type { TextError } from '../../../policies/text/parse.ts';

/** The word, the text or the sign that begins at an error. */
const WORD = /^(?:"[^"\n]*"?|[\w.-]+|\S)/;

export interface Marked {
  before: string;
  /** One space where the text ends too early. */
  bad: string;
  after: string;
}

export function marked(text: string, { offset }: TextError): Marked {
  const bad = WORD.exec(text.slice(offset))?.[0] ?? '';
  return { before: text.slice(0, offset), bad: bad === '' ? ' ' : bad, after: text.slice(offset + bad.length) };
}

export function errorText(text: string, { line, column, message }: TextError): string {
  const place = text.includes('\n') ? `Line ${line}, column ${column}` : `Column ${column}`;
  return `${place}: ${message}`;
}
