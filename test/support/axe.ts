/**
 * What axe-core finds on a page: WCAG 2.2 A and AA, and its best practices. It reads open shadow roots and is injected
 * past the page's CSP, as a debugger is.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AxeResults, RunOptions } from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { sharedChromium } from './visitor.ts';

const source = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const RULES: RunOptions = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] },
  resultTypes: ['violations'],
};

/** What a theme changes. Everything else axe finds in one theme as in the other. */
const COLOURS: RunOptions = { runOnly: { type: 'rule', values: ['color-contrast'] }, resultTypes: ['violations'] };

/** On the open page in light and in dark colours. */
export async function faultsInBothThemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await accessibilityFaults(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  // Drawn in the other colours: a style that follows a media query is not new before the next frame.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  const dark = await accessibilityFaults(page, COLOURS);
  return [...light.map((fault) => `light: ${fault}`), ...dark.map((fault) => `dark: ${fault}`)];
}

/** One line per fault, so that a failed test shows what to fix: rule, element, how. */
export async function accessibilityFaults(page: Page, checks = RULES): Promise<string[]> {
  await endTransitions(page);
  // Once for each document, which is new after a navigation only.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(source);
  const { violations } = await page.evaluate(
    (rules) =>
      (globalThis as unknown as { axe: { run(root: Document, options: RunOptions): Promise<AxeResults> } }).axe.run(
        document,
        rules,
      ),
    checks,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id} at ${JSON.stringify(target)}: ${failureSummary ?? ''}`),
  );
}

/** Halfway between two colours, a text has too little contrast. What has no end goes on. */
async function endTransitions(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) {
      if (animation.effect?.getComputedTiming().endTime !== Infinity) animation.finish();
    }
  });
}

/**
 * For a page without scripts. axe-core needs scripts, so the content of `<noscript>` is shown to a browser that runs
 * them.
 */
export async function faultsWithoutScript(markup: string, options: BrowserContextOptions = {}): Promise<string[]> {
  const context = await (await sharedChromium()).newContext(options);
  try {
    const page = await context.newPage();
    await page.setContent(markup.replaceAll(/<script.*?<\/script>|<meta http-equiv="?refresh.*?>|<\/?noscript>/gs, ''));
    return await accessibilityFaults(page);
  } finally {
    await context.close();
  }
}
