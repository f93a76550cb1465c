/** docs/transcript.md shows what the commands print: they are run again, against a stack as `npm start` leaves it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { rulesWritten } from '../../scripts/transcript/steps.ts';
import { useStack } from '../support/stack.ts';

const stack = useStack({ seedChanges: {} });

test('every command of the transcript after npm start prints what the page shows', async () => {
  const shown = readFileSync('docs/transcript.md', 'utf8');
  const again = await rulesWritten(stack(), stack().stateDir);
  expect(shown.slice(shown.indexOf('## The first request')).trim()).toBe(again.trim());
});
