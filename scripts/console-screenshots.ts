/**
 * Takes the pictures of docs/console.md: a stack of its own, a day of made-up traffic in its log, and the main views in
 * Chromium, as small WebP files. Run: `node scripts/console-screenshots.ts`
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { type Stack, startStack } from '../src/cli/stack.ts';
import { SAMPLE_ISOLATE, dayOfTraffic, sampleRuleId, sampleRules } from './console-screenshots/sample-traffic.ts';
import { browse } from '../test/support/browse.ts';
import { launchChromium } from '../test/support/chromium.ts';
import { eventually } from '../test/support/eventually.ts';
import { manage } from '../test/support/manage.ts';
import { buildConsole, writeConsole } from './build-console.ts';

const OUTPUT = 'docs/console';
const PORT_BASE = 8_960;
const VIEWPORT = { width: 1100, height: 620 };
const QUALITY = 40;
/** A page with pictures is read on a phone network too. */
const PICTURE_MAX_BYTES = 60_000;
/** Of verdicts. The edge API takes no more at once. */
const BATCH_RECORDS = 500;

/** Views whose picture does not begin at the top, with the heading that it begins at. */
const shownFrom: Readonly<Record<string, string>> = { health: 'Edges' };

const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-screenshots-'));
writeConsole(await buildConsole());
const stack = await startStack({ portBase: PORT_BASE, stateDir, quiet: true });
const browser = await launchChromium();
try {
  const reference = await fill(stack);
  await takeAll(browser, stack, reference);
} finally {
  await browser.close();
  await stack.stop();
  rmSync(stateDir, { recursive: true, force: true });
}

interface Logged {
  request_id: string;
  edge: { isolate: string };
}

/** @returns the reference of one blocked request. */
async function fill({ edgeUrl, serviceUrl, clientJwt, instanceId, siteKey }: Stack): Promise<string> {
  await manage(stack, '/protect/access-rules/create', { rules: sampleRules });
  const records = dayOfTraffic({ instanceId, siteKey }, Date.now());
  for (let at = 0; at < records.length; at += BATCH_RECORDS) {
    const response = await fetch(`${serviceUrl}/edge/v1/verdicts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${clientJwt}`, 'content-type': 'application/json' },
      body: JSON.stringify({ records: records.slice(at, at + BATCH_RECORDS) }),
    });
    if (!response.ok) throw new Error(`The log refuses the sample: ${response.status} ${await response.text()}`);
  }
  const blocked = async () => browse(`${edgeUrl}/pricing?page=7`, { headers: { 'user-agent': 'price-crawler/2.1' } });
  // Before the edge has the rule, the request is challenged.
  await eventually(blocked, ({ headers }) => headers.get('x-protect-decision') === 'block');
  const newest = async () => {
    const asked = { firedRules: sampleRuleId, limit: 1 };
    return (await manage<{ verdicts: Logged[] }>(stack, '/protect/verdicts', asked)).verdicts[0];
  };
  const logged = await eventually(newest, (verdict) => verdict?.edge.isolate !== SAMPLE_ISOLATE);
  return logged!.request_id;
}

async function takeAll(chromium: Browser, { consoleUrl, signInUrl }: Stack, reference: string): Promise<void> {
  const context = await chromium.newContext({ viewport: VIEWPORT, colorScheme: 'light', locale: 'en-US' });
  const page = await context.newPage();
  await page.goto(consoleUrl);
  await page.evaluate(
    (token) =>
      fetch('/console/auth/link', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      }),
    new URL(signInUrl).hash.replace('#link=', ''),
  );
  const devtools = await context.newCDPSession(page);
  mkdirSync(OUTPUT, { recursive: true });
  const views: Record<string, string> = {
    overview: '',
    verdicts: '/verdicts?decision=challenge',
    verdict: `/verdicts/${reference}`,
    rules: '/rules',
    health: '/health',
    guide: '/guide',
  };
  for (const [name, path] of Object.entries(views)) {
    await page.goto(consoleUrl + path);
    await page.locator('h1').waitFor();
    await page.waitForLoadState('networkidle');
    const heading = shownFrom[name];
    if (heading !== undefined) {
      await page.getByRole('heading', { name: heading, exact: true }).evaluate((element) => element.scrollIntoView());
    }
    const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
    const file = join(OUTPUT, `${name}.webp`);
    writeFileSync(file, data, 'base64');
    const bytes = statSync(file).size;
    console.log(`${file} ${bytes} B`);
    if (bytes > PICTURE_MAX_BYTES) throw new Error(`${file} is larger than ${PICTURE_MAX_BYTES} bytes`);
  }
}
