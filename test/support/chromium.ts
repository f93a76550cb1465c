/**
 * A Chromium for the browser tests: the system's where there is one, else the one an npm package
 * carries, so that a fresh clone needs nothing else. Tests talk to 127.0.0.1 only.
 */
import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

const systemBrowsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The caller closes it. */
export async function launchChromium(): Promise<Browser> {
  const executablePath = systemBrowsers.find((path) => existsSync(path)) ?? (await chromium.executablePath());
  return playwright.launch({
    executablePath,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
