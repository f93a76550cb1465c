/** An API key is about to expire: what uses it stops working. */
import { neverEnds } from './kind-words.ts';
import type { KindWords } from './kind-words.ts';

export const apiKeyExpiring: KindWords = {
  title: 'An API key is about to expire',
  begun: (about, { expiresAt }) =>
    `The API key ${about} expires at ${String(expiresAt)}. Create another one, and give it to what uses this one.`,
  ended: neverEnds,
};
