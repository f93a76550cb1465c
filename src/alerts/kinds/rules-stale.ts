/** An edge lacks a change of the rules for long, or the newest rules cannot be compiled or sent. */
import type { KindWords } from './kind-words.ts';

export const rulesStale: KindWords = {
  title: 'Access rules are out of date',
  begun: (about, { edge, step }) =>
    edge === undefined
      ? `The newest access rules of ${about} cannot be ${step === 'compile' ? 'compiled' : 'sent to its edges'}. ` +
        'The log of the service says why.'
      : `The edge ${String(edge)} of ${about} has lacked a change of the access rules for minutes. ` +
        'Check that it reaches the service and can write to its cache.',
  ended: (about, { edge }) =>
    edge === undefined
      ? `The access rules of ${about} are compiled and sent again.`
      : `The edge ${String(edge)} of ${about} has the newest access rules, or is no longer in use.`,
};
