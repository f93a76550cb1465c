/**
 * Chooses among the languages a text is translated into. A visitor whose language has no translation reads English.
 */

export interface Localised<Messages> {
  /** Lower-case language tag. */
  tag: string;
  direction: 'ltr' | 'rtl';
  messages: Messages;
}

/** The tags to look for, closest first: `pt` serves a visitor who wants `pt-BR`. */
export function tagsFor(language: string): [exact: string, base: string] {
  const exact = language.toLowerCase();
  return [exact, exact.split('-')[0]!];
}

/** The first of `tags` that has a translation. `languages` holds English at least. */
export function localised<Messages>(
  tags: readonly string[],
  languages: Readonly<Record<string, Messages>>,
): Localised<Messages> {
  const tag = tags.find((candidate) => Object.hasOwn(languages, candidate)) ?? 'en';
  return { tag, direction: /^(?:ar|fa|he|ur)$/.test(tag) ? 'rtl' : 'ltr', messages: languages[tag]! };
}
