/**
 * A Chromium for the browser tests: the one named by `GATEHOUSE_CHROMIUM`, else the system's, else the one
 * an npm package carries, so that a fresh clone needs nothing else. Tests talk to 127.0.0.1 only.
 */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium, { inflate } from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

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

/** The caller closes it. */
export async function launchChromium(more: readonly string[] = []): Promise<Browser> {
  const args = [...defaultArgs, ...more];
  const installed = process.env['GATEHOUSE_CHROMIUM'] ?? systemBrowsers.find((path) => existsSync(path));
  if (installed !== undefined) return playwright.launch({ executablePath: installed, headless: true, args });
  return launchCarriedChromium(more);
}

/** The one of the npm package, a build that never had a window. The caller closes it. */
export async function launchCarriedChromium(more: readonly string[] = []): Promise<Browser> {
  const args = [...defaultArgs, ...more];
  const executablePath = await chromium.executablePath();
  try {
    return await playwright.launch({ executablePath, headless: true, args });
  } catch (error) {
    if (!String(error).includes('shared libraries')) throw error;
    return playwright.launch({ executablePath, headless: true, args, env: await withCarriedLibraries() });
  }
}

/** A minimal machine lacks libnss3 and its like; the package carries them for another platform's sake. */
async function withCarriedLibraries(): Promise<Record<string, string>> {
  const packageFile = fileURLToPath(import.meta.resolve('@sparticuz/chromium'));
  await inflate(join(dirname(packageFile), '..', 'bin', 'al2023.tar.br'));
  const path = [join(tmpdir(), 'al2023', 'lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(delimiter);
  return { ...(process.env as Record<string, string>), LD_LIBRARY_PATH: path };
}
