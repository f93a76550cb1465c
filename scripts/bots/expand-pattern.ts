/**
 * Turns a regular expression of a source into the plain texts that it matches, without regard to letter case. It knows
 * the constructs that the sources use, and refuses every other one: then the pattern is written by hand.
 */

/** More would be a sign that the expression is not a list of names. */
const TEXTS_MAX = 16;

/** The texts, with `^` in front where the expression is anchored. @throws Error for a construct it does not know. */
export function expandPattern(source: string): string[] {
  const unknown = (): never => {
    throw new Error(`Write a pattern by hand for ${JSON.stringify(source)}`);
  };
  let at = 0;

  function sequence(): string[] {
    let texts = [''];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      const part = repeated(atom());
      texts = texts.flatMap((text) => part.map((next) => text + next));
      if (texts.length > TEXTS_MAX) unknown();
    }
    return texts;
  }
  function alternatives(): string[] {
    const texts = sequence();
    while (source[at] === '|') {
      at++;
      texts.push(...sequence());
    }
    return texts;
  }
  function atom(): string[] {
    const char = source[at++] ?? unknown();
    if (char === '\\') return escaped(source[at++] ?? unknown());
    if (char === '[') return letterClass();
    if (char === '(') return group();
    if ('.*+?{}]$^'.includes(char)) return unknown();
    return [char];
  }
  function escaped(char: string): string[] {
    // White space after a name: the longest name wins, so the name is enough.
    if (char === 's' && at === source.length) return [''];
    return /[a-z0-9]/i.test(char) ? unknown() : [char];
  }
  /** `[bB]`: one letter in both cases. */
  function letterClass(): string[] {
    const end = source.indexOf(']', at);
    const letters = new Set(source.slice(at, end).toLowerCase());
    if (end < 0 || letters.size !== 1 || source[at] === '^') unknown();
    const letter = source[at] ?? '';
    at = end + 1;
    return [letter];
  }
  function group(): string[] {
    if (source.startsWith('?:', at)) at += 2;
    const texts = alternatives();
    if (source[at++] !== ')') unknown();
    return texts;
  }
  function repeated(texts: string[]): string[] {
    if (source.startsWith('{0,1}', at)) at += 5;
    else if (source[at] === '?') at++;
    else return texts;
    return ['', ...texts];
  }

  // The beginning of a word is where a pattern begins anyway.
  if (source.startsWith('(^| )')) at = 5;
  const anchor = source.startsWith('^') ? '^' : '';
  at += anchor.length;
  const texts = alternatives();
  if (at !== source.length) unknown();
  const seen = new Map(texts.map((text) => [text.toLowerCase(), text.trimEnd()]));
  return [...seen.values()].map((text) => anchor + text);
}
