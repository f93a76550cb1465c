/**
 * `npm run check`: everything that can be checked without running the code. Each step lists its problems, one per line.
 * All steps run, so that one run shows every problem.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { checkArchitecturePage } from './checks/architecture-page.ts';
import { checkCliPage } from './checks/cli-page.ts';
import { checkClientSize } from './checks/client-size.ts';
import { checkConsoleCalls } from './checks/console-calls.ts';
import { checkConsoleNames } from './checks/console-names.ts';
import { checkDeploymentGuide } from './checks/deployment-guide.ts';
import { checkDocumentedMetrics } from './checks/documented-metrics.ts';
import { checkDocumentedSettings } from './checks/documented-settings.ts';
import { checkEdgeBundle } from './checks/edge-bundle.ts';
import { checkFileLength } from './checks/file-length.ts';
import { checkImportGraph } from './checks/import-graph.ts';
import { checkOneVersion } from './checks/one-version.ts';
import { checkOneWorkerd } from './checks/one-workerd.ts';
import { checkOwnStacks } from './checks/own-stacks.ts';
import { checkPlainWords } from './checks/plain-words.ts';
import { checkPackageSize } from './checks/package-size.ts';
import { checkPageReferences } from './checks/page-references.ts';
import { checkPromisedTests } from './checks/promised-tests.ts';
import { checkPureModules } from './checks/pure-modules.ts';
import { checkTestTime } from './checks/test-time.ts';
import { installPackage } from './install-package.ts';

interface Step {
  name: string;
  /** Returns the problems. An empty list means that the step passes. */
  run(): Promise<string[]>;
}

/** As many as a small machine has cores. The compilers use more on their own. */
const PARALLEL_STEPS = 2;

const steps: Step[] = [
  { name: 'types: Workers', run: command('tsc', ['-p', 'tsconfig.json']) },
  { name: 'types: Node', run: command('tsc', ['-p', 'tsconfig.node.json']) },
  { name: 'types: browser', run: command('tsc', ['-p', 'src/widget/tsconfig.json']) },
  { name: 'types: console', run: command('tsc', ['-p', 'src/console/tsconfig.json']) },
  { name: 'types: server package', run: command('tsc', ['-p', 'packages/server/tsconfig.json']) },
  { name: 'types: widget package', run: command('tsc', ['-p', 'packages/widget/tsconfig.json']) },
  { name: 'bindings', run: command('npm', ['run', '--silent', 'types', '--', '--check']) },
  { name: 'lint', run: command('oxlint', ['--type-aware', '--deny-warnings']) },
  { name: 'import boundaries', run: checkImportGraph },
  { name: 'format', run: command('oxfmt', ['--check']) },
  { name: 'format: Markdown', run: command('node', ['scripts/format-markdown.ts', '--check']) },
  { name: 'dead code', run: command('knip', ['--config', 'scripts/knip.ts', '--no-progress']) },
  { name: 'edge bundle', run: checkEdgeBundle },
  { name: 'client size', run: checkClientSize },
  { name: 'package size', run: checkPackageSize },
  { name: 'one workerd', run: checkOneWorkerd },
  { name: 'one version', run: checkOneVersion },
  { name: 'pure modules', run: checkPureModules },
  { name: 'tests of the promises', run: checkPromisedTests },
  { name: 'file length', run: checkFileLength },
  { name: 'own stacks', run: checkOwnStacks },
  { name: 'plain words', run: checkPlainWords },
  { name: 'time in tests', run: checkTestTime },
  { name: 'catalogue of bots', run: command('node', ['scripts/bots/build-catalogue.ts', '--check']) },
  { name: 'documentation', run: command('node', ['scripts/build-docs.ts']) },
  { name: 'links and quoted tests', run: checkPageReferences },
  { name: 'names of the console', run: checkConsoleNames },
  { name: 'page of the commands', run: checkCliPage },
  { name: 'page of the architecture', run: checkArchitecturePage },
  { name: 'pages of the settings', run: checkDocumentedSettings },
  { name: 'documented metrics', run: checkDocumentedMetrics },
  { name: 'deployment guide', run: checkDeploymentGuide },
  { name: 'calls of the console', run: checkConsoleCalls },
  { name: 'configuration schema', run: command('node', ['scripts/config-schema.ts', '--check']) },
];

function command(program: string, args: string[]): Step['run'] {
  return () =>
    new Promise((resolve) => {
      const child = spawn(program, args, {
        env: { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false', NO_COLOR: '1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
      child.on('error', (error) => resolve([String(error)]));
      child.on('close', (code) =>
        resolve(code === 0 ? [] : [output.trim() || `${program} failed with exit code ${code}`]),
      );
    });
}

async function runStep(step: Step): Promise<boolean> {
  const started = performance.now();
  // A step that throws fails. The other steps still run.
  const problems = await step.run().catch((error: unknown) => [String(error)]);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${problems.length === 0 ? 'ok  ' : 'FAIL'} ${step.name} (${seconds} s)\n`);
  for (const problem of problems) process.stdout.write(`${problem.replace(/^/gm, '     ')}\n`);
  return problems.length === 0;
}

// The tools, and what the code to check imports.
for (const folder of ['scripts', 'docs/.vitepress', 'bench', 'test/compat']) installPackage(folder);
process.env['PATH'] = [process.env['PATH'], path.resolve('scripts/node_modules/.bin')].join(path.delimiter);

// The Workers import the generated browser code and texts, so generate them first.
const generated = await command('npm', ['run', '--silent', 'build:client'])();
if (generated.length > 0) {
  process.stdout.write(`${generated.join('\n')}\n`);
  process.exit(1);
}
// The types of the console are made from the document.
const outcomes = [await runStep({ name: 'OpenAPI', run: command('node', ['scripts/openapi.ts', '--check']) })];
const waiting = [...steps];
await Promise.all(
  Array.from({ length: PARALLEL_STEPS }, async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) {
      outcomes.push(await runStep(step));
    }
  }),
);
const failed = outcomes.filter((passed) => !passed).length;
process.stdout.write(
  failed === 0 ? `\nAll ${outcomes.length} checks pass.\n` : `\n${failed} of ${outcomes.length} checks fail.\n`,
);
process.exitCode = failed === 0 ? 0 : 1;
