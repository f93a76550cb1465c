/**
 * A Chromium for the browser tests: the one that `GATEHOUSE_CHROMIUM` names, else the headless build of an npm package,
 * so that a fresh clone needs nothing else and every machine tests with the same version. Tests connect to 127.0.0.1 only.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type Browser, chromium as playwright } from 'playwright-core';
import { carriedChromium } from './carried-chromium.ts';

const namedChromium = process.env['GATEHOUSE_CHROMIUM'];

const defaultArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Major version of the Chromium that `launchChromium` starts. A user agent with another one is a disguise. */
export function chromiumVersion(): number {
  const text =
    namedChromium === undefined
      ? readFileSync('node_modules/@sparticuz/chromium/package.json', 'utf8')
      : execFileSync(namedChromium, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return Number(/(?:"version": "|\s)(\d+)\.\d+\.\d+/.exec(text)?.[1]);
}

/** `without`: switches that Playwright sets and a test cannot use. The caller closes it. */
export async function launchChromium(more: readonly string[] = [], without: string[] = []): Promise<Browser> {
  const args = [...defaultArgs, ...more];
  if (namedChromium !== undefined) {
    return playwright.launch({ executablePath: namedChromium, headless: true, args, ignoreDefaultArgs: without });
  }
  return launchCarriedChromium(more, without);
}

/** The headless build of the npm package. The caller closes it. */
export async function launchCarriedChromium(more: readonly string[] = [], without: string[] = []): Promise<Browser> {
  const options = { headless: true, args: [...defaultArgs, ...more], ignoreDefaultArgs: without };
  const { executablePath, env, envWithLibraries } = await carriedChromium();
  try {
    return await playwright.launch({ ...options, executablePath, env });
  } catch (error) {
    if (!String(error).includes('shared libraries')) throw error;
    return playwright.launch({ ...options, executablePath, env: envWithLibraries });
  }
}
