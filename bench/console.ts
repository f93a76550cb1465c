/**
 * `npm run bench -- console [--rows N] [--rules N] [--runs N] [--state DIR]`: the console in headless Chromium, over a
 * local stack with N verdicts of a week and a long list of rules. How long a person waits for the first view, for
 * searches and for an explanation, and which frames scrolling loses beside a floor. `--state` keeps the filled log.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { launchChromium } from '../test/support/chromium.ts';
import { filledStack } from './console/filled-stack.ts';
import { measureFrames } from './console/frames.ts';
import { measureFirstView, measureSearches, newContext, signIn } from './console/waits.ts';

const ROWS_DEFAULT = 200_000;
const RULES_DEFAULT = 110_000;
const RUNS_DEFAULT = 7;

export async function run(args: readonly string[]): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ args: [...args], options: { rows: text, rules: text, runs: text, state: text } });
  const [rows, rules, runs] = [
    Number(values.rows ?? ROWS_DEFAULT),
    Number(values.rules ?? RULES_DEFAULT),
    Number(values.runs ?? RUNS_DEFAULT),
  ];
  const stateDir = values.state ?? mkdtempSync(join(tmpdir(), 'gatehouse-bench-console-'));
  const filled = await filledStack(stateDir, rows, rules);
  const { consoleUrl, signInUrl } = filled.stack;
  const browser = await launchChromium();
  try {
    const signedIn = await signIn(browser, signInUrl);
    const views = await measureFirstView(browser, signedIn, consoleUrl, runs);
    const context = await newContext(browser, signedIn);
    console.table({ ...views, ...(await measureSearches(context, filled, runs)) });
    await measureFrames(context, consoleUrl, rules);
  } finally {
    await browser.close();
    await filled.stack.stop();
    if (values.state === undefined) rmSync(stateDir, { recursive: true, force: true });
  }
}
