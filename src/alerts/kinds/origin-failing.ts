/** The origin does not respond, or responds with errors of its own. */
import { count, percent } from './kind-words.ts';
import type { KindWords } from './kind-words.ts';

export const originFailing: KindWords = {
  title: 'The origin fails',
  begun: (about, { failed, requests, share }) =>
    `The origin of ${about} failed ${count(failed)} of the last ${count(requests)} requests (${percent(share)}): ` +
    'no response, or a status of 500 and above.',
  ended: (about) => `The origin of ${about} responds again.`,
};
