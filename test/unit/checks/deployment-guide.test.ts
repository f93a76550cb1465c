/** The check of the deployment guide finds enforcement that comes before the log was read. */
import { expect, test } from 'vitest';
import { deploymentProblems } from '../../../scripts/checks/deployment-guide.ts';

const deploy = 'wrangler deploy --config wrangler.toml --route x';
const read = 'curl https://service.example/protect/verdicts';
const enforce = `curl -d '{"monitor": false}'`;
const guide = (...commands: string[]): string =>
  `# Operations\n\n## Deployment by hand\n${commands.map((text) => `\n### Step\n\n\`\`\`sh\n${text}\n\`\`\`\n`).join('')}\n## Next\n`;

const early = 'docs/operations.md must turn enforcement on in the last step of the deployment, and nowhere before';
const unread = 'docs/operations.md must read the log after the deployment and before the last step';

test('the log is read after the deployment, and enforcement follows as the last step', () => {
  expect(deploymentProblems(guide(deploy, read, enforce))).toEqual([]);
});

test('enforcement in an earlier step, or in none, is reported', () => {
  expect(deploymentProblems(guide(deploy, enforce, read, enforce))).toEqual([early]);
  expect(deploymentProblems(guide(deploy, read, 'exit'))).toEqual([early]);
});

test('a log that is read too early, too late or never is reported', () => {
  expect(deploymentProblems(guide(read, deploy, enforce))).toEqual([unread]);
  expect(deploymentProblems(guide(deploy, `${read}\n${enforce}`))).toEqual([unread]);
  expect(deploymentProblems('')).toContain(unread);
});
