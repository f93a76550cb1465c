/** What docs/operations.md tells an operator to type on the first deployment. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const deployment = readFileSync('docs/operations.md', 'utf8')
  .split('\n## ')
  .find((part) => part.startsWith('Deployment by hand'));
const steps = (deployment ?? '').split('\n### ').slice(1);
const commandsOf = (step = '') => [...step.matchAll(/```sh\n([^]*?)```/g)].map(([, commands]) => commands).join('\n');

test('turns enforcement on in the last step, after the log was read, and nowhere before', () => {
  const enforcing = steps.filter((step) => /"?(?:monitor|autoInject)"?\s*:\s*false/.test(commandsOf(step)));
  expect(enforcing).toEqual([steps.at(-1)]);
  const reading = steps.findIndex((step) => commandsOf(step).includes('/protect/verdicts'));
  const deploying = steps.findIndex((step) =>
    commandsOf(step).includes('wrangler deploy --config wrangler.toml --route'),
  );
  expect([deploying < reading, reading < steps.length - 1]).toEqual([true, true]);
});
