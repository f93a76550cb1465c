/**
 * A walk through every view of the console: nothing that axe finds, in both themes and two widths, no report of the
 * content security policy, no host but its own (both checked after every test), and everything by keyboard.
 */
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { serveComponents } from '../../scripts/console-components.ts';
import { faultsInBothThemes } from '../support/axe.ts';
import { browse } from '../support/browse.ts';
import { useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';
import { sharedChromium } from '../support/visitor.ts';
import { stackNow } from '../support/clock.ts';

const console = useConsole();

/** Every route of the console, as the browser code lists them. */
const routes = [...readFileSync('src/console/app.tsx', 'utf8').matchAll(/\['\/console([^']*)', view/g)].map(
  ([, path = '']) => path,
);

interface Logged {
  request_id: string;
  user_agent: string;
}

let logged: Promise<Logged> | undefined;
/** Once for all tests. */
const traffic = (): Promise<Logged> => (logged ??= makeTraffic());

/** A blocked request whose user agent is markup, so that every view shows something that a visitor chose. */
async function makeTraffic(): Promise<Logged> {
  const stack = console.stack();
  const name = '<img src=x onerror=alert(1)> walking-bot';
  await manage(stack, '/protect/access-rules/create', {
    rules: [
      { type: 'userAgent', value: 'walking-bot', verdict: 'block', note: '<script>alert(1)</script>' },
      // As wide as rules get.
      {
        type: 'ipMask',
        value: '2001:db8:1234:5678:9abc:def0:1234:0/112',
        verdict: 'challenge',
        mode: 'monitor',
        rollout: 50,
        expiry: new Date(stackNow() + 40 * 86_400_000).toISOString(),
        note: 'A long note, '.repeat(20),
      },
      { type: 'ja4Hash', value: 't13d1516h2_8daaf6152771_02713d6af862', verdict: 'challenge' },
    ],
  });
  await eventually(
    () => browse(`${stack.edgeUrl}/walk`, { headers: { 'user-agent': name } }),
    ({ status }) => status === 403,
  );
  await browse(`${stack.edgeUrl}/a-long-path${'/and-on'.repeat(40)}`, {
    headers: { 'user-agent': `${name} ${'x'.repeat(2000)}` },
  });
  const newest = () =>
    manage<{ verdicts: Logged[] }>(stack, '/protect/verdicts', { firedRules: 'userAgent:walking-bot' });
  const { verdicts } = await eventually(newest, (page) => page.verdicts.length > 1);
  return verdicts[0]!;
}

/** A route with real ids in place of its parameters. */
async function addressOf(route: string): Promise<string> {
  const { siteKey, instanceId } = console.stack();
  const { request_id: requestId } = await traffic();
  const ids: Record<string, string> = {
    siteKey,
    id: instanceId,
    requestId,
    jti: 'no-such-session',
    type: 'userAgent?value=walking-bot',
  };
  return route.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? name);
}

/** What is folded away counts too. */
async function openDetails(page: Page): Promise<void> {
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
}

/** What is wider than its room: the page, and everything in it that scrolls or cuts. Code to copy keeps its lines. */
function sidewaysIn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const clips = (element: Element) => {
      const { overflowX } = getComputedStyle(element);
      return overflowX === 'auto' || overflowX === 'scroll' || element.matches('.table-scroll');
    };
    return [document.documentElement, ...document.querySelectorAll('body *')]
      .filter((element) => element === document.documentElement || clips(element))
      .filter((element) => !element.matches('pre.snippet'))
      .filter((element) => element.scrollWidth > element.clientWidth)
      .map((element) => {
        const { right } = element.getBoundingClientRect();
        const wide = [...element.querySelectorAll('*')].find((one) => one.getBoundingClientRect().right > right);
        return `${element.ariaLabel ?? element.tagName}: ${element.scrollWidth} pixels wide at ${wide?.outerHTML}`;
      });
  });
}

/** What axe finds on the open page in both themes and two widths, and what scrolls sideways in it. */
async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 900 });
    for (const fault of await faultsInBothThemes(page)) faults.push(`${width} px, ${fault}`);
    if (width === 360) await openDetails(page);
    for (const fault of width === 360 ? await sidewaysIn(page) : []) faults.push(`360 px: ${fault}`);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) faults.push(`${over} pixels wider than ${width}`);
    if (width < 1280) continue;
    const tables = await page.locator('.table-scroll').all();
    for (const table of tables) {
      const [name, hidden] = await table.evaluate((one) => [one.ariaLabel, one.scrollWidth - one.clientWidth] as const);
      if (hidden > 0) faults.push(`“${name}” hides ${hidden} pixels at ${width}`);
    }
  }
  return faults;
}

/** One tab opens them all: the first run of axe in a tab takes three times as long as the next. */
test('no view has a fault that axe finds, and none scrolls sideways, nor does a table on a desk', async () => {
  console.expectMessage(/status of 404/);
  // A colour that is still changing has no contrast that axe could measure.
  await console.comesAs({ reducedMotion: 'reduce' });
  const faults: string[] = [];
  for (const route of routes) {
    await console.open(await addressOf(route));
    await console.page.waitForLoadState('networkidle');
    for (const fault of await faultsOf(console.page)) faults.push(`/console${route}: ${fault}`);
  }
  expect(routes.length).toBeGreaterThan(30);
  expect(faults).toEqual([]);
});

test('a view whose file cannot be loaded says so, and loads when the service is back', async () => {
  const { page } = console;
  console.expectMessage(/ERR_FAILED|Failed to fetch/);
  await console.open('');
  await page.route('**/console/assets/health-*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Health and alerts', exact: true }).click();
  await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Load it again' }).click();
  await page.getByRole('heading', { name: 'Health', exact: true }).waitFor();
});

test('a refusal with a long detail stays within a narrow window', async () => {
  console.expectMessage(/status of 400/);
  await console.comesAs({ viewport: { width: 360, height: 900 } });
  await console.open('/rules/of/no-such-type');
  await console.page.getByRole('alert').waitFor();
  expect(await console.page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});

test('the page of components has no fault either, and shows each of them', async () => {
  const { url, stop } = await serveComponents(0);
  const context = await (await sharedChromium()).newContext({ locale: 'en-US', reducedMotion: 'reduce' });
  try {
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole('heading', { name: 'Components' }).waitFor();
    expect(await page.getByRole('table', { name: 'Addresses' }).getAttribute('aria-rowcount')).toBe('100001');
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Open a dialog' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete 105 rules' }).click();
    await page.getByText('105 rules were deleted.').waitFor();
  } finally {
    await context.close();
    await stop();
  }
});

test('a list of 100,000 rows scrolls without new elements, and a button never acts on the row that takes its place', async () => {
  const { url, stop } = await serveComponents(0);
  const context = await (await sharedChromium()).newContext({ locale: 'en-US' });
  try {
    const page = await context.newPage();
    await page.goto(url);
    const list = page.getByRole('region', { name: 'Addresses' });
    const elements = await list.locator('tbody tr').elementHandles();
    expect(elements.length).toBeLessThan(150);
    await page.getByRole('button', { name: 'Choose 3', exact: true }).focus();
    await list.evaluate((region) => region.scrollTo(0, 50_000 * 41));
    await page.getByRole('button', { name: 'Choose 50001', exact: true }).waitFor();
    expect(await list.evaluate((region) => region === document.activeElement)).toBe(true);
    await page.keyboard.press('Enter');
    expect(await page.getByText('was chosen').count()).toBe(0);
    const isNew = (known: readonly unknown[]) =>
      [...document.querySelectorAll('.table-long tbody tr')].some((row) => !known.includes(row));
    expect(await page.evaluate(isNew, elements)).toBe(false);
    // The Tab key and screen readers follow the order of the document.
    const indexes = () =>
      list.locator('tbody tr').evaluateAll((rows) => rows.map((row) => Number(row.getAttribute('aria-rowindex'))));
    await eventually(indexes, (all) => all.every((index, at) => at === 0 || index === all[at - 1]! + 1));
  } finally {
    await context.close();
    await stop();
  }
});

test('every view is reached from the overview by its links', async () => {
  const { page } = console;
  await traffic();
  await console.open('');
  const navigation = page.getByRole('navigation', { name: 'Console' });
  const opens = async (link: Locator) => {
    const text = await link.innerText();
    await link.click();
    await page.locator('nav [aria-current=page]', { hasText: text }).first().waitFor();
    await page.locator('h1').waitFor();
    expect(await page.getByRole('heading', { name: 'No such page' }).count()).toBe(0);
  };
  const entries = (await navigation.getByRole('link').all()).slice(1);
  expect([entries.length, await navigation.getByRole('heading').count()]).toEqual([9, 3]);
  const pages: string[] = [];
  for (const entry of entries) {
    await opens(entry);
    const beside = await page.locator('.beside .tabs').getByRole('link').all();
    for (const link of beside) await opens(link);
    pages.push(...(await Promise.all(beside.map((link) => link.innerText()))));
    const documentation = page.getByRole('link', { name: 'Documentation', exact: true });
    expect(await documentation.getAttribute('href')).toMatch(/^\/docs\/\w/);
  }
  // No two pages have one name.
  expect(new Set(pages).size).toBe(pages.length);
  await console.open('/rules');
  await page.getByText('Show as curl').click();
  expect(await page.getByRole('link', { name: 'API reference' }).getAttribute('href')).toBe('/docs/api');
});

test('a short reference, as a visitor reads it aloud, leads to its verdict', async () => {
  const { page } = console;
  const { request_id: requestId } = await traffic();
  await console.open('');
  const short = `${requestId.slice(4, 8)} ${requestId.slice(-4)}`.toUpperCase();
  await page.getByRole('searchbox').fill(short);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/console/verdicts/${requestId}*`);
  await console.open('/find?q=0000-0000');
  await page.getByText('No request has this short reference').waitFor();
});

test('a reference leads to its rule by keyboard alone', async () => {
  const { page } = console;
  const { request_id: requestId } = await traffic();
  await console.open('');
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');
  await page.keyboard.press('/');
  await page.keyboard.type(requestId);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/console/verdicts/${requestId}*`);
  await page.getByText('walking-bot').first().waitFor();
  // On to the rule, by Tab.
  const isAtRule = () =>
    page.evaluate(
      () =>
        /\/console\/(rules|verdicts\?)/.test((document.activeElement as HTMLAnchorElement).href ?? '') &&
        document.activeElement?.closest('main') !== null,
    );
  for (let presses = 0; presses < 80 && !(await isAtRule()); presses += 1) await page.keyboard.press('Tab');
  expect(await isAtRule()).toBe(true);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/console\/(rules|verdicts\?)/);
  await page.locator('h1').waitFor();
});

test('on a phone the header is one row, filters stand behind one button, and the live tail has an end', async () => {
  await browse(`${console.stack().edgeUrl}/on-a-phone`, { headers: { 'user-agent': 'phone-bot' } });
  await console.comesAs({ viewport: { width: 390, height: 800 } });
  const { page } = console;
  await console.open('/tail');
  await page.getByText('/on-a-phone').first().waitFor();
  expect((await page.getByRole('banner').boundingBox())!.height).toBeLessThan(60);
  const decision = page.locator('.filters .field-label', { hasText: 'Decision' }).first();
  expect(await decision.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Filters' }).click();
  await decision.waitFor();
  expect((await page.locator('.tail-list').boundingBox())!.height).toBeLessThanOrEqual(640);
});

test('a dialog opens in the middle of the window, at its first field', async () => {
  const { page } = console;
  await console.open('/users');
  await page.getByRole('button', { name: 'Add a user' }).click();
  const dialog = page.getByRole('dialog');
  await expect.poll(() => dialog.getByLabel('Email').evaluate((field) => field === document.activeElement)).toBe(true);
  const { y, height } = (await dialog.boundingBox())!;
  expect(Math.abs(y + height / 2 - page.viewportSize()!.height / 2)).toBeLessThan(2);
});

test('on a desk the buttons of a row stand side by side, and a choice in a table shows its whole word', async () => {
  const { page } = console;
  await manage(console.stack(), '/users/create', { email: 'ann@shop.example', name: 'Ann', role: 'analyst' });
  await manage(console.stack(), '/alerts/channels/create', {
    name: 'On call',
    shape: 'webhook',
    webhookUrl: 'https://hooks.example.com/alerts',
  });
  await console.open('/alerts/channels');
  await page.getByRole('button', { name: 'Send a test to On call' }).waitFor();
  const buttons = await page.getByRole('table').getByRole('button').all();
  expect(buttons).toHaveLength(4);
  const tops = await Promise.all(buttons.map(async (button) => (await button.boundingBox())!.y));
  expect(new Set(tops).size).toBe(1);
  await console.open('/users');
  const role = page.getByLabel('Role of ann@shop.example');
  await role.waitFor();
  const missing = await role.evaluate((select) => {
    const width = select.getBoundingClientRect().width;
    select.style.width = 'max-content';
    return select.getBoundingClientRect().width - width;
  });
  expect(missing).toBe(0);
});

test('a dialog asks before what was typed is lost, by Escape, a click outside and its cross', async () => {
  const { page } = console;
  await console.open('/access-control');
  await page.getByRole('button', { name: 'New rule' }).click();
  const dialog = page.getByRole('dialog', { name: 'New captcha rule' });
  const question = page.getByRole('dialog', { name: 'Close without saving?' });
  const value = dialog.getByLabel('Value 1');
  await dialog.waitFor();
  // Nothing is typed yet, so nothing is asked.
  await page.mouse.click(5, 5);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New rule' }).click();
  await value.fill('203.0.113.9');
  const ways = [
    () => page.keyboard.press('Escape'),
    () => page.mouse.click(5, 5),
    () => dialog.getByRole('button', { name: 'Close' }).click(),
  ];
  for (const way of ways) {
    await way();
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect(await value.inputValue()).toBe('203.0.113.9');
  }
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Close it' }).click();
  await dialog.waitFor({ state: 'detached' });
});

test('what the service refuses of a long form is in view, at its field and in the words of the form', async () => {
  console.expectMessage(/status of 400/);
  await console.comesAs({ viewport: { width: 390, height: 700 } });
  const { page } = console;
  await console.open('/access-control');
  await page.getByRole('button', { name: 'New rule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Value 1').fill('not-an-address');
  await dialog.getByLabel('What it does').selectOption('restrict');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const alert = dialog.getByRole('alert').getByRole('listitem');
  expect(await alert.innerText()).toMatch(/^Value 1 /);
  const error = dialog.locator('.field:has(input[aria-invalid=true]) .field-error');
  expect(await alert.innerText()).toContain(await error.innerText());
  expect(await dialog.getByLabel('Value 1').evaluate((input) => input === document.activeElement)).toBe(true);
  const top = (await error.boundingBox())!.y;
  expect(top).toBeGreaterThan(0);
  expect(top).toBeLessThan(700);
});

test('a dialog holds the focus, closes with Escape, and gives the focus back', async () => {
  const { page } = console;
  await console.open('/access-control');
  const opener = page.getByRole('button', { name: 'New rule' });
  await opener.focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  for (let presses = 0; presses < 30; presses += 1) {
    await page.keyboard.press('Tab');
    const place = await page.evaluate(() => {
      const at = document.activeElement;
      return at === document.body || at?.closest('dialog') !== null;
    });
    expect(place).toBe(true);
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => opener.evaluate((element) => element === document.activeElement)).toBe(true);
});
