/**
 * What the picture tasks say. Languages without a row here get English and the drawings, which need no
 * words.
 */
import { latin } from './messages-latin.ts';
import { otherScripts } from './messages-other-scripts.ts';

/** The order of a row: the tasks' texts, then the shapes' names. */
export const visualKeys = [
  'choose',
  'move',
  'listen',
  'play',
  'digits',
  'submit',
  'sound',
  'picture',
  'tile',
  'piece',
  'wrong',
  'circle',
  'triangle',
  'square',
  'star',
  'heart',
  'moon',
  'cross',
  'arrow',
] as const;
/** `language`: the one these texts are in. */
export type VisualMessages = Readonly<Record<(typeof visualKeys)[number] | 'language', string>>;

const english: Record<string, readonly string[]> = {
  en: [
    'Choose all pictures that show this shape:',
    'Move the piece to where it fits: drag it, click the place, or use the arrow keys.',
    'Play the sound and count the tones in each group. Type one digit per group.',
    'Play',
    'Tones per group',
    'Submit',
    'Use sound instead',
    'Use pictures instead',
    'Picture',
    'Piece',
    'That was not right.',
    'circle',
    'triangle',
    'square',
    'star',
    'heart',
    'moon',
    'cross',
    'arrow',
  ],
};
export const visualRows: Record<string, readonly string[]> = { ...english, ...latin, ...otherScripts };

export function visualMessages(language: string): VisualMessages {
  const base = language.toLowerCase().split('-')[0]!;
  const known = Object.hasOwn(visualRows, base) ? base : 'en';
  const row = visualRows[known]!;
  const texts = Object.fromEntries(visualKeys.map((key, index) => [key, row[index]!]));
  return { ...texts, language: known } as VisualMessages;
}
