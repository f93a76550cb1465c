/** Finds the command that the first words name. A mistyped name gets the nearest one as a suggestion. */
import { distance } from 'fastest-levenshtein';
import { CommandError, type CommandLine, usageOf } from './command-line.ts';

/** Two letters in the wrong order are two mistakes. */
const MISTAKES_MAX = 2;

export interface Found<Entry> {
  name: string;
  entry: Entry;
  /** The words behind the name. */
  rest: readonly string[];
}

/** @throws CommandError when no command has this name. */
export function findCommand<Entry extends CommandLine>(
  table: Readonly<Record<string, Entry>>,
  words: readonly string[],
): Found<Entry> {
  const [noun = '', verb = ''] = words;
  for (const name of [`${noun} ${verb}`, noun]) {
    const entry = Object.hasOwn(table, name) ? table[name] : undefined;
    if (entry !== undefined) return { name, entry, rest: words.slice(name.split(' ').length) };
  }
  const typed = (verb.startsWith('-') ? noun : `${noun} ${verb}`).trim();
  const ofNoun = Object.entries(table).filter(([name]) => name.startsWith(`${noun} `));
  const isGroup = typed === noun && ofNoun.length > 0;
  const near = isGroup ? null : nearest(typed, Object.keys(table));
  const suggestion = near === null ? '' : ` Did you mean "${near}"?`;
  const known = ofNoun.map((line) => `  ${usageOf(...line)}`);
  const hint = known.length > 0 ? `Use one of these:\n\n${known.join('\n')}` : 'List the commands with --help.';
  throw new CommandError(`There is no command "${typed}".${suggestion} ${hint}`);
}

/** The name with the fewest mistakes, for the whole of what was typed or for its first word. */
function nearest(typed: string, names: readonly string[]): string | null {
  const [first = ''] = typed.split(' ', 1);
  let [best, fewest] = [null as string | null, Number.POSITIVE_INFINITY];
  for (const name of names) {
    for (const text of new Set([typed, first])) {
      const mistakes = distance(text, name);
      if (mistakes <= Math.min(MISTAKES_MAX, name.length - 1, text.length - 1) && mistakes < fewest)
        [best, fewest] = [name, mistakes];
    }
  }
  return best;
}
