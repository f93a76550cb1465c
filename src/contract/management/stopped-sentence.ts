/** Says in one sentence what stopped requests before they reached a limit. For the console and the command line. */
import type { VerdictSource } from '../vocabulary.ts';

/** By what the verdict log names as the source of a decision. */
const stoppers: Partial<Record<VerdictSource, string>> = {
  'access-rule': 'access rules',
  'ip-category': 'address categories',
  risk: 'risk',
  // The log has one source for both: a policy's challenge, and what a path asks of visitors without a session.
  policy: 'policies or a missing session',
  'no-session': 'a missing session',
  bot: 'the bot policy',
  impostor: 'the bot policy',
};

/** Empty where nothing was stopped. */
export function stoppedSentence(stopped: readonly { by: VerdictSource; requests: number }[]): string {
  const sum = stopped.reduce((all, { requests }) => all + requests, 0);
  if (sum === 0) return '';
  const parts = stopped.map(({ by, requests }) => `${requests} by ${stoppers[by] ?? by}`);
  return `${sum} more ${sum === 1 ? 'was' : 'were'} stopped before: ${parts.join(', ')}.`;
}
