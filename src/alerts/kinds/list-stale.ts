/** A list of an instance is not read well any more: it is out of date, or has expired. */
import type { KindWords } from './kind-words.ts';

export const listStale: KindWords = {
  title: 'A list is out of date',
  begun(about, { list, reason, error, readAt }) {
    const since = readAt === 'never' ? 'has never been read well' : `was last read well at ${String(readAt)}`;
    const effect = reason === 'expired' ? ', has expired and decides nothing' : '';
    const why = error === '' ? '' : ` The last attempt: ${String(error)}.`;
    return `The list ${String(list)} of ${about} ${since}${effect}.${why} See gatehouse lists show ${String(list)}.`;
  },
  ended: (about, { list }) => `The list ${String(list)} of ${about} is up to date again, or was deleted.`,
};
