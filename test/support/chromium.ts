/**
 * A Chromium for the browser tests: the one that `GATEHOUSE_CHROMIUM` names, else the system's, else the one of an npm
 * package, so that a fresh clone needs nothing else. Tests connect to 127.0.0.1 only.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { type Browser, chromium as playwright } from 'playwright-core';
import { carriedChromium } from './carried-chromium.ts';

const systemBrowsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const defaultArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

function installedChromium(): string | undefined {
  return process.env['GATEHOUSE_CHROMIUM'] ?? systemBrowsers.find((path) => existsSync(path));
}

/** Major version of the Chromium that `launchChromium` starts. A user agent with another one is a disguise. */
export function chromiumVersion(): number {
  const installed = installedChromium();
  const text =
    installed === undefined
      ? readFileSync('node_modules/@sparticuz/chromium/package.json', 'utf8')
      : execFileSync(installed, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  return Number(/(?:"version": "|\s)(\d+)\.\d+\.\d+/.exec(text)?.[1]);
}

/** `without`: switches that Playwright sets and a test cannot use. The caller closes it. */
export async function launchChromium(more: readonly string[] = [], without: string[] = []): Promise<Browser> {
  const args = [...defaultArgs, ...more];
  const installed = installedChromium();
  if (installed !== undefined) {
    return playwright.launch({ executablePath: installed, headless: true, args, ignoreDefaultArgs: without });
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
