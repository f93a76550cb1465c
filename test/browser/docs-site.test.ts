/** The documentation that the service serves under `/docs`, in Chromium: its links, its search, its security policy. */
import { globSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { faultsInBothThemes } from '../support/axe.ts';
import { useBuiltDocs } from '../support/built-docs.ts';
import { eventually } from '../support/eventually.ts';
import { expectRows } from '../support/rows.ts';
import { useStack } from '../support/stack.ts';
import { useVisitor } from '../support/visitor.ts';

useBuiltDocs();
const stack = useStack();
// A violation of the security policy is an error in the console.
const visitor = useVisitor({ isSilent: true, context: { reducedMotion: 'reduce' } });
const asked: string[] = [];
const site = (path: string): string => `${stack().serviceUrl}/docs/${path}`;

beforeEach(() => {
  asked.length = 0;
  visitor.context.on('request', (request) => asked.push(request.url()));
});

async function open(path: string): Promise<void> {
  const response = await visitor.page.goto(site(path), { waitUntil: 'networkidle' });
  expect(response?.status()).toBe(200);
}

function expectNoOtherHost(): void {
  const elsewhere = asked.filter((url) => !url.startsWith('data:') && new URL(url).origin !== stack().serviceUrl);
  expect(elsewhere).toEqual([]);
}

test('every page is reached from the first one, and every link and anchor has its target', async () => {
  const anchors = new Map<string, Set<string>>();
  const wanted: { from: string; page: string; anchor: string }[] = [];
  const waiting = ['/docs/'];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (anchors.has(path)) continue;
    const response = await fetch(`${stack().serviceUrl}${path}`);
    expect({ path, status: response.status }).toEqual({ path, status: 200 });
    const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
    const text = await response.text();
    anchors.set(path, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)));
    if (!isPage) continue;
    for (const [, href = ''] of text.matchAll(/<a [^>]*href="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(href, `${stack().serviceUrl}${path}`);
      if (origin !== stack().serviceUrl || !pathname.startsWith('/docs/')) continue;
      wanted.push({ from: path, page: pathname, anchor: decodeURIComponent(hash.slice(1)) });
      waiting.push(pathname);
    }
  }
  const missing = wanted.filter(({ page, anchor }) => anchor !== '' && anchors.get(page)?.has(anchor) !== true);
  expect(missing).toEqual([]);
  const pages = globSync('docs/**/*.md').map((path) => `/${path.replace(/(README|index)?\.md$/, '')}`);
  // The page of the API has its rows.
  expect(pages.filter((page) => !anchors.has(page))).toEqual(['/docs/api-fields']);
});

describe('any page', () => {
  const pages = ['', 'policies', 'console', 'decisions/'];

  test('keeps the security policy, asks no other host and has no fault in either theme', () =>
    expectRows(
      pages,
      async (path) => {
        asked.length = 0;
        await open(path);
        expect(await faultsInBothThemes(visitor.page)).toEqual([]);
        expectNoOtherHost();
      },
      site,
    ));

  test('fits a screen of 360 pixels', async () => {
    await visitor.page.setViewportSize({ width: 360, height: 740 });
    await expectRows(
      pages,
      async (path) => {
        await open(path);
        expect(await visitor.page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
      },
      site,
    );
  });
});

test('a script of these pages that opens the console gets no handle on its window', async () => {
  // The console is at localhost only, and a handle on another origin would be of no use.
  const { port } = new URL(stack().serviceUrl);
  await visitor.page.goto(`http://localhost:${port}/docs/`);
  const opened = visitor.context.waitForEvent('page');
  await visitor.page.evaluate(() => void Object.assign(window, { opened: window.open('/console') }));
  const popup = await opened;
  await popup.waitForURL(`http://localhost:${port}/console**`);
  await popup.waitForLoadState();
  expect(await visitor.page.evaluate(() => (window as unknown as { opened: Window }).opened.closed)).toBe(true);
  expect(await popup.evaluate(() => window.opener as unknown)).toBeNull();
});

test('the search finds a setting, and opens the page that explains it', async () => {
  await open('');
  await visitor.page.getByRole('button', { name: 'Search' }).click();
  await visitor.page.getByRole('searchbox').fill('challengeThreshold');
  // The list is made again while the texts of its pages arrive. Found and clicked in one task, a link is the one meant.
  const links = visitor.page.getByRole('option').locator('a[href*="/docs/instance-settings"]');
  const clickFirst = () =>
    links.evaluateAll(([first]) => {
      (first as HTMLElement | undefined)?.click();
      return first !== undefined;
    });
  await eventually(clickFirst, (isClicked) => isClicked);
  await visitor.page.getByRole('heading', { level: 1, name: 'Instance settings' }).waitFor();
  expectNoOtherHost();
});

test('the search finds the words of people who are in a hurry', async () => {
  const pages: [words: string, page: string][] = [
    ['false positive', 'troubleshooting'],
    ['locked out', 'troubleshooting'],
    ['slow', 'troubleshooting'],
    ['GDPR', 'privacy'],
    ['rate limit', 'limits'],
    ['allowlist', 'access-rules'],
    ['uninstall', 'operations'],
  ];
  await open('');
  await visitor.page.getByRole('button', { name: 'Search' }).click();
  await expectRows(pages, async ([words, page]) => {
    await visitor.page.getByRole('searchbox').fill(words);
    await visitor.page.getByRole('option').locator(`a[href*="/docs/${page}"]`).first().waitFor();
  });
});

test('a script of these pages cannot call the API with the session of the reader', async () => {
  // A second tab, because the refusal is an error in the console.
  const page = await visitor.context.newPage();
  await page.goto(site(''));
  const call = (path: string) =>
    page.evaluate(async (url) => {
      const response = await fetch(url, { method: 'POST' }).catch(() => null);
      return response?.status ?? 'refused';
    }, path);
  expect(await call('/sites/get')).toBe('refused');
  expect(await call('/docs/')).toBe(405);
});

describe('the page of the API', () => {
  test('shows an operation with its example and a code sample, asks no other host and has no fault', async () => {
    await open('api#tag/protect/POST/protect/policies/set');
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Replace the policies, limits and origins' }).waitFor();
    // The recorded request in the sample, and the recorded response.
    const sample = page.locator('pre, code').filter({ hasText: '/protect/policies/set' }).first();
    await expect.poll(() => sample.textContent()).toMatch(/curl .*\/protect\/policies\/set[^]*Watch logins/);
    await expect.poll(() => page.locator('body').textContent()).toContain('"placeBefore"');
    // The renderer names two cards alike.
    const faults = await faultsInBothThemes(page);
    expect(faults.filter((fault) => !fault.startsWith('light: landmark-unique'))).toEqual([]);
    expectNoOtherHost();
  });

  test('has code samples in Go, JavaScript, PHP, Python and curl', async () => {
    await open('api#tag/protect/POST/protect/policies/set');
    await visitor.page.getByRole('button', { name: 'Shell Curl' }).first().click();
    const clients = visitor.page.getByRole('option');
    await expect.poll(() => clients.allInnerTexts()).toEqual(['NewRequest', 'Fetch', 'cURL', 'http.client', 'Curl']);
  });

  test('finds an operation by its path', async () => {
    await open('api');
    await visitor.page
      .getByRole('button', { name: /search/i })
      .first()
      .click();
    await visitor.page.keyboard.type('policies/rollback');
    await visitor.page.getByRole('option', { name: 'Restore the policies of an earlier version' }).click();
    await visitor.page.waitForURL(/rollback/);
    expectNoOtherHost();
  });

  test('fits a screen of 360 pixels', async () => {
    await visitor.page.setViewportSize({ width: 360, height: 740 });
    await open('api');
    await visitor.page.getByRole('heading', { level: 1 }).waitFor();
    expect(await visitor.page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });
});
