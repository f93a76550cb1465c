/** What docs/operations.md tells an operator to type on the first deployment. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const deployment = readFileSync('docs/operations.md', 'utf8')
  .split('\n## ')
  .find((part) => part.startsWith('Deployment'));
const steps = (deployment ?? '').split('\n### ').slice(1);
const commandsOf = (step = '') => [...step.matchAll(/```sh\n([^]*?)```/g)].map(([, commands]) => commands).join('\n');

test('turns enforcement on in the last step, after the log was read, and nowhere before', () => {
  const enforcing = steps.filter((step) => /"?(?:monitor|autoInject)"?\s*:\s*false/.test(commandsOf(step)));
  expect(enforcing).toEqual([steps.at(-1)]);
  const reading = steps.findIndex((step) => commandsOf(step).includes('/protect/verdicts'));
  const deploying = steps.findIndex((step) => commandsOf(step).includes('wrangler deploy --route'));
  expect([deploying < reading, reading < steps.length - 1]).toEqual([true, true]);
});

test('shows the operator the token for health checks that the edge is deployed with', async () => {
  const commands = commandsOf(steps.find((step) => step.includes('OPS_TOKEN=$(')));
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-guide-'));
  try {
    const stubs = 'npx() { cp .dev.vars deployed; }; curl() { echo "{}"; }';
    const { stdout } = await promisify(execFile)('bash', ['-ec', `${stubs}\n${commands}`], { cwd: dir });
    const token = /^OPS_TOKEN=(.{32,})$/m.exec(readFileSync(join(dir, 'deployed'), 'utf8'))?.[1];
    expect(token).toBeDefined();
    expect(stdout).toContain(`OPS_TOKEN=${token}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
