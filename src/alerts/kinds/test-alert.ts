/** What "send a test" sends. */
import { neverEnds } from './kind-words.ts';
import type { KindWords } from './kind-words.ts';

export const testAlert: KindWords = {
  title: 'A test',
  begun: (about) => `This is a test of the channel ${about}. Nothing happened.`,
  ended: neverEnds,
};
