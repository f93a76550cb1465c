/** docs/operations.md turns enforcement on in the last step of the first deployment, after the log was read. */
import { readFileSync } from 'node:fs';

export async function checkDeploymentGuide(): Promise<string[]> {
  return deploymentProblems(readFileSync('docs/operations.md', 'utf8'));
}

export function deploymentProblems(page: string): string[] {
  const guide = page.split('\n## ').find((part) => part.startsWith('Deployment by hand')) ?? '';
  const steps = guide.split('\n### ').slice(1);
  const commands = steps.map((step) => [...step.matchAll(/```sh\n([^]*?)```/g)].map(([, text]) => text).join('\n'));
  const last = steps.length - 1;
  const enforcing = [...commands.keys()].filter((at) =>
    /"?(?:monitor|autoInject)"?\s*:\s*false/.test(commands[at] ?? ''),
  );
  const reading = commands.findIndex((text) => text.includes('/protect/verdicts'));
  const deploying = commands.findIndex((text) => text.includes('wrangler deploy --config wrangler.toml --route'));
  return [
    ...(enforcing.length === 1 && enforcing[0] === last
      ? []
      : ['docs/operations.md must turn enforcement on in the last step of the deployment, and nowhere before']),
    ...(deploying < reading && reading < last
      ? []
      : ['docs/operations.md must read the log after the deployment and before the last step']),
  ];
}
