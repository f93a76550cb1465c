/**
 * Browsers load languages as rows: the texts in the order of the English fields, without the fields' names.
 */
import { type Localised, localised } from './language.ts';

export type Rows = Readonly<Record<string, readonly string[]>>;

/** The first of `tags` that has a row, else English. */
export function localisedRow<Messages extends Readonly<Record<string, string>>>(
  tags: readonly string[],
  english: Messages,
  rows: Rows,
): Localised<Messages> {
  const chosen = localised(tags, { ...rows, en: Object.values(english) });
  const texts = Object.keys(english).map((field, at) => [field, chosen.messages[at]]);
  return { ...chosen, messages: Object.fromEntries(texts) as Messages };
}
