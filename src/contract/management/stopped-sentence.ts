/** Says in one sentence what stopped requests before they reached a limit. For the console and the command line. */
import type { VerdictSource } from '../vocabulary.ts';
import { sourceWords } from './source-words.ts';

/** Empty where nothing was stopped. */
export function stoppedSentence(stopped: readonly { by: VerdictSource; requests: number }[]): string {
  const sum = stopped.reduce((all, { requests }) => all + requests, 0);
  if (sum === 0) return '';
  const parts = stopped.map(({ by, requests }) => `${requests} by ${sourceWords[by]}`);
  return `${sum} more ${sum === 1 ? 'was' : 'were'} stopped before: ${parts.join(', ')}.`;
}
