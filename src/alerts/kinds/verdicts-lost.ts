/** Verdicts that isolates numbered and that the log does not have, or that no sink accepted. */
import { count } from './kind-words.ts';
import type { KindWords } from './kind-words.ts';

export const verdictsLost: KindWords = {
  title: 'Verdicts are lost',
  begun: (about, { lost, requests }) =>
    `The log of ${about} lacks ${count(lost)} verdicts of about ${count(requests)} requests. ` +
    'See docs/failure-modes.md, and check the queue and the sinks of the edge.',
  ended: (about) => `The log of ${about} has every new verdict again.`,
};
