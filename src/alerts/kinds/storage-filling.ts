/** An object of an instance is near a bound of what it stores: soon it refuses what is new. */
import { count } from './kind-words.ts';
import type { KindWords } from './kind-words.ts';

export const storageFilling: KindWords = {
  title: 'Storage is nearly full',
  begun(about, { what, used, limit }) {
    const amount = `${count(used)} of at most ${count(limit)}`;
    switch (what) {
      case 'access-rules':
        return `${about} has ${amount} access rules and entries of lists. Remove what is no longer needed.`;
      case 'unsealed-verdicts':
        return (
          `A log shard of ${about} holds ${amount} verdicts that it could not write to R2. ` +
          'Check the bucket: a full shard takes no more, and verdicts wait in the queue.'
        );
      default:
        return `A log shard of ${about} has ${amount} MB. Shorten the retention, or add shards with VERDICT_SHARDS.`;
    }
  },
  ended: (about, { what }) =>
    what === 'access-rules'
      ? `${about} has room for access rules again.`
      : `The log shards of ${about} have room again.`,
};
