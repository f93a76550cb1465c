/** The sentence about requests that never reached a limit, in words that are true without any policy. */
import { expect, test } from 'vitest';
import { stoppedSentence } from '../../../src/contract/management/stopped-sentence.ts';

test('who lacked a session is not called stopped by a policy alone', () => {
  const stopped = [
    { by: 'policy', requests: 22 },
    { by: 'risk', requests: 1 },
  ] as const;
  expect(stoppedSentence(stopped)).toBe('23 more were stopped before: 22 by policies or a missing session, 1 by risk.');
});
