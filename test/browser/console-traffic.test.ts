/** The console's live tail, sessions and captchas. Everything shown is what the API says. */
import { beforeAll, describe, expect, test } from 'vitest';
import { faultsInBothThemes } from '../support/axe.ts';
import { browse } from '../support/browse.ts';
import { useConsole } from '../support/console.ts';
import { blockedVisit, HOSTILE, implausibleSession, type LoggedVerdict, verdictOf } from '../support/console-visits.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole();

/** Of a session whose page reported what no page can. */
let jti: string;

const api = <Answer>(path: string, body: object = {}): Promise<Answer> => manage<Answer>(console.stack(), path, body);
const loggedVerdict = (body: object, isWanted: (one: LoggedVerdict) => boolean) =>
  verdictOf(console.stack(), body, isWanted);
const button = (name: string | RegExp) => console.page.getByRole('button', { name, exact: typeof name === 'string' });

/** Drags over the middle of a chart. */
async function brush(name: RegExp): Promise<void> {
  const { mouse } = console.page;
  const plot = console.page.getByRole('figure', { name }).locator('.u-over');
  await plot.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await plot.boundingBox())!;
  await mouse.move(x + width / 4, y + height / 2);
  await mouse.down();
  await mouse.move(x + width / 2, y + height / 2, { steps: 4 });
  await mouse.move(x + (3 * width) / 4, y + height / 2, { steps: 4 });
  await mouse.up();
}

const dialog = () => console.page.getByRole('dialog');

/** A click on a box of a field of several values. */
async function choose(label: string, value: string): Promise<void> {
  const field = console.page.locator('.field', { has: console.page.getByText(label, { exact: true }) }).first();
  if ((await field.locator('details').getAttribute('open')) === null) await field.locator('summary').click();
  await field.getByRole('checkbox', { name: value }).click();
}

beforeAll(async () => {
  await blockedVisit(console.stack());
  jti = await implausibleSession(console.stack());
});

describe('the live tail', () => {
  const request = (path: string, userAgent = HOSTILE) =>
    browse(`${console.stack().edgeUrl}${path}`, { headers: { 'user-agent': userAgent } });

  test('shows what arrives, of the chosen decision', async () => {
    await console.open('/tail?decision=block');
    await console.page.getByRole('cell', { name: HOSTILE }).first().waitFor();
    await request('/tail-allowed', 'harmless/1.0');
    await request('/tail-blocked');
    await console.page.getByRole('cell', { name: '/tail-blocked' }).waitFor();
    await loggedVerdict({}, ({ request_path: path }) => path === '/tail-allowed');
    expect(await console.page.getByText('/tail-allowed').count()).toBe(0);
    await choose('Decision', 'allow');
    await console.page.getByRole('cell', { name: '/tail-blocked' }).waitFor();
    await choose('Decision', 'block');
    await console.page.getByRole('cell', { name: '/tail-allowed' }).waitFor();
  });

  test('stands still while it is paused, and says when it went on from the newest', async () => {
    const { page } = console;
    await console.open('/tail');
    await page.getByRole('row').nth(1).waitFor();
    await button('Pause').click();
    await page.getByText('Paused').waitFor();
    for (let at = 0; at < 260; at += 20) {
      await Promise.all(Array.from({ length: 20 }, (_, more) => request(`/while-paused-${at + more}`)));
    }
    await loggedVerdict({ requestPath: '/while-paused-259' }, () => true);
    expect(await page.getByText('/while-paused-').count()).toBe(0);
    await button('Continue').click();
    await page.getByText('More arrived than this page shows, so it went on from the newest.').waitFor();
    await page.getByRole('cell', { name: '/while-paused-2' }).first().waitFor();
    expect(await page.getByRole('row').count()).toBeLessThanOrEqual(251);
  });

  test('asks nothing while nobody can see it', async () => {
    const { page } = console;
    await page.clock.install();
    await console.open('/tail');
    await page.getByRole('row').nth(1).waitFor();
    const show = (state: string) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'visibilityState', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    let asked = 0;
    page.on('request', (one) => (asked += one.url().endsWith('/protect/verdicts/tail') ? 1 : 0));
    await show('hidden');
    await request('/while-hidden');
    await loggedVerdict({}, ({ request_path: path }) => path === '/while-hidden');
    // A minute of the page's clock: the timer of the last poll runs, and asks nothing.
    await page.clock.runFor(60_000);
    expect(asked).toBeLessThanOrEqual(1);
    expect(await page.getByText('/while-hidden').count()).toBe(0);
    await show('visible');
    await page.getByRole('cell', { name: '/while-hidden' }).waitFor();
  });
});

describe('the list of verdicts', () => {
  const firstRow = () => console.page.getByRole('row').nth(1);
  const shownTotal = async () =>
    Number(/[\d,]+/.exec(await console.page.getByRole('status').first().innerText())![0].replaceAll(',', ''));

  test('is filtered by several values at once, which its address keeps', async () => {
    const { page } = console;
    await browse(`${console.stack().edgeUrl}/filtered`, { headers: { 'user-agent': HOSTILE } });
    await console.open('/verdicts');
    await button('Filters').click();
    await page.getByLabel('Rules fired, at least').fill('1');
    // What is typed stays while a box is chosen.
    await choose('Decision', 'block');
    await choose('Decision', 'challenge');
    await page.getByLabel('Rules that fired').fill('asn:64496, userAgent:quotedbot');
    await button('Filter').click();
    await page.waitForURL(/rules=1/);
    const params = new URL(page.url()).searchParams;
    expect(Object.fromEntries(params)).toEqual({
      decision: 'challenge,block',
      rules: '1',
      rule: 'asn:64496, userAgent:quotedbot',
    });
    const { total } = await api<{ total: number }>('/protect/verdicts', {
      decision: ['block', 'challenge'],
      minRulesFired: 1,
      firedRules: ['asn:64496', 'userAgent:quotedbot'],
    });
    expect(total).toBeGreaterThan(0);
    await page.reload();
    await firstRow().waitFor();
    await eventually(shownTotal, (shown) => shown === total);
  });

  test('keeps what is typed at once after a box is chosen, before the next frame', async () => {
    const { page } = console;
    await console.open('/verdicts');
    await button('Filters').click();
    const rule = page.getByLabel('Rules that fired');
    await rule.waitFor();
    const field = page.locator('.field', { has: page.getByText('Decision', { exact: true }) }).first();
    await field.locator('summary').click();
    const box = await field.getByRole('checkbox', { name: 'block' }).elementHandle();
    await rule.evaluate(async (input, checkbox) => {
      (checkbox as HTMLInputElement).click();
      // The next task, which comes before the next frame.
      await new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.addEventListener('message', resolve);
        port1.start();
        port2.postMessage(null);
      });
      (input as HTMLInputElement).value = 'asn:64496';
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }, box);
    await rule.press('Enter');
    await page.waitForURL(/rule=asn/);
    expect(new URL(page.url()).searchParams.get('decision')).toBe('block');
  });

  test('is filtered by a click on a value, and the back button undoes it', async () => {
    const { page } = console;
    await console.open('/verdicts');
    await firstRow().waitFor();
    const all = await shownTotal();
    await page
      .getByRole('row', { name: /user agents with quotedbot/ })
      .first()
      .getByRole('link', { name: 'An access rule is for user agents with quotedbot' })
      .click();
    await page.waitForURL(/rule=userAgent%3Aquotedbot/);
    await eventually(shownTotal, (shown) => shown < all);
    expect(await page.getByLabel('Rules that fired').inputValue()).toBe('userAgent:quotedbot');
    await page.goBack();
    await eventually(shownTotal, (shown) => shown >= all);
    expect(await page.getByLabel('Rules that fired').inputValue()).toBe('');
  });

  test('a field of several values works by keyboard, and Escape closes it', async () => {
    const { page } = console;
    await console.open('/verdicts');
    await page.locator('.choice summary').first().focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.waitForURL(/decision=challenge/);
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SUMMARY');
    expect(await page.locator('.choice[open]').count()).toBe(0);
  });

  test('a value that the service refuses is named', async () => {
    console.expectMessage(/400/);
    await console.open('/verdicts?rules=many');
    await console.page.getByRole('alert').getByText('minRulesFired').waitFor();
  });
});

test('the lists of the overview show what attacks now: only what was blocked', async () => {
  const { page } = console;
  await console.open('');
  await page.getByRole('link', { name: /^Blocked/ }).click();
  await page.waitForURL(/decision=block/);
  const { series } = await api<{ series: { value: string; total: number }[] }>('/protect/traffic-by-dimension', {
    groupBy: 'user_agent',
    decision: 'block',
  });
  const rows = page.getByRole('table', { name: /^User agents/ }).getByRole('row');
  await eventually(
    () => rows.count(),
    (count) => count === series.length + 1,
  );
  await page
    .getByRole('table', { name: /^Rules/ })
    .getByRole('link', { name: 'An access rule is for user agents with quotedbot' })
    .click();
  await page.waitForURL(/verdicts\?.*decision=block/);
  await page
    .getByRole('row', { name: /user agents with quotedbot/ })
    .first()
    .waitFor();
});

describe('sessions', () => {
  test('are listed by risk, and one shows its score as parts over time', async () => {
    const { page } = console;
    await console.open('/sessions');
    await page.getByLabel('Risk score').selectOption('0.01');
    const { sessions } = await api<{ sessions: { jti: string; parts: { says: string }[] }[] }>('/protect/sessions');
    const listed = sessions.find((one) => one.jti === jti)!;
    expect(await page.getByRole('row', { name: jti }).innerText()).toContain(listed.parts[0]!.says);
    await page.getByRole('link', { name: jti }).click();
    const { scores } = await api<{ scores: { risk_score: number; parts: { detector: string; weight: number }[] }[] }>(
      '/protect/risk-history',
      { jti },
    );
    const rows = page.getByRole('table', { name: /Changes of the score/ }).getByRole('row');
    await rows.nth(1).waitFor();
    expect(await rows.count()).toBe(scores.length + 1);
    const newest = scores.at(-1)!;
    const text = await rows.nth(1).innerText();
    expect(text).toContain(newest.risk_score.toFixed(2));
    for (const { detector, weight } of newest.parts) expect(text).toContain(`${detector} +${weight}`);
    await page
      .getByRole('table', { name: /Reports of the session/ })
      .getByRole('row')
      .nth(1)
      .waitFor();
  });

  test('a part of the score over time is chosen by dragging, kept in the address, and left again', async () => {
    const { page } = console;
    await console.open(`/sessions/${jti}`);
    const chart = page.getByRole('figure', { name: /Risk score over time/ });
    await chart.getByRole('img').focus();
    await page.keyboard.press('ArrowLeft');
    await chart.getByText(/: score [\d.]+$/).waitFor();
    await brush(/Risk score over time/);
    await page.waitForURL(/[?&]zoom=\d+-\d+/);
    const [, from, to] = /zoom=(\d+)-(\d+)/.exec(page.url())!;
    expect(Number(to)).toBeGreaterThan(Number(from));
    await page.reload();
    await button('Show the whole session').click();
    await page.waitForURL((url) => !url.search.includes('zoom'));
  });

  test('one is erased after its numbers are said, and nothing of it is left', async () => {
    const { page } = console;
    const erased = await implausibleSession(console.stack());
    await console.open(`/sessions/${erased}`);
    await button('Erase…').click();
    await dialog()
      .getByText(/\d+ verdicts?, every report of its pages/)
      .waitFor();
    await button('Erase the session').click();
    await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
    const { total } = await api<{ total: number }>('/protect/verdicts/search', { jti: erased });
    expect(total).toBe(0);
    await console.open(`/sessions/${erased}`);
    await page.getByRole('heading', { name: 'Nothing is stored about this session' }).waitFor();
  });
});

describe('captchas', () => {
  beforeAll(async () => {
    const { serviceUrl, siteKey } = console.stack();
    for (let at = 0; at < 60; at += 1) {
      await fetch(`${serviceUrl}/captcha/v1/challenge`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': at === 7 ? 'odd-one/1.0' : 'captcha-bot/1.0' },
        body: JSON.stringify({ siteKey, currentUrl: `${serviceUrl}/`, capabilities: { script: true } }),
      });
    }
    await eventually(
      async () => (await api<{ total: number }>('/audit/searchcaptcharecords')).total,
      (total) => total >= 60,
    );
  });

  test('are counted by the hour as the API counts them', async () => {
    const { page } = console;
    const { siteKey } = console.stack();
    await console.open(`/captchas?captchaSite=${siteKey}`);
    await page
      .getByRole('table', { name: /Captchas by period/ })
      .getByRole('row')
      .nth(1)
      .waitFor();
    const counted = await api<{ total: number }[]>('/gettrafficdata', { token: 'x', accountId: 'x' });
    const total = counted.reduce((sum, row) => sum + row.total, 0);
    const figure = page.locator('.figure', { hasText: /^Issued/ });
    expect(Number((await figure.locator('b').innerText()).replaceAll(',', ''))).toBe(total);
    await page.getByRole('table', { name: 'Most frequent addresses' }).getByRole('link').first().waitFor();
  });

  test('over time are looked at closer by dragging, by the hour and by the minute', async () => {
    const { page } = console;
    const { siteKey } = console.stack();
    await console.open(`/captchas?captchaSite=${siteKey}`);
    const live = page.getByRole('figure', { name: 'Captchas minute by minute' });
    await live.getByRole('img').focus();
    await page.keyboard.press('ArrowLeft');
    await live.getByText(/: \d+ captchas$/).waitFor();
    await brush(/Captchas minute by minute/);
    await page.waitForURL(/[?&]zoom=\d+-\d+/);
    await button('Show the whole hour').click();
    await brush(/Captchas by hour/);
    await page.waitForURL(/[?&]from=\d+&to=\d+/);
    const { searchParams } = new URL(page.url());
    const [from, to] = [Number(searchParams.get('from')), Number(searchParams.get('to'))];
    // Whole hours, a part of the day.
    expect([from % 3_600_000, to % 3_600_000]).toEqual([0, 0]);
    expect(to - from).toBeLessThan(86_400_000);
    await button('Back to the last 24 hours').click();
    await page.waitForURL((url) => !url.search.includes('from='));
  });

  test('are paged without a gap or a repetition', async () => {
    const { page } = console;
    await console.open('/captchas/search');
    const links = page.getByRole('table').getByRole('link');
    const idsOnPage = async () =>
      Promise.all(
        (await links.all()).map(async (link) => new URL((await link.getAttribute('href')) ?? '', 'http://x')),
      );
    await links.first().waitFor();
    const first = (await idsOnPage()).map((url) => url.searchParams.get('record'));
    expect(first).toHaveLength(50);
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByRole('link', { name: 'Newest' }).waitFor();
    await eventually(
      () => links.count(),
      (count) => count !== 50,
    );
    const second = (await idsOnPage()).map((url) => url.searchParams.get('record'));
    expect(new Set([...first, ...second]).size).toBe(first.length + second.length);
    expect(first.length + second.length).toBe((await api<{ total: number }>('/audit/searchcaptcharecords')).total);
  });

  test('are found by their facts, and one shows all of them', async () => {
    const { page } = console;
    await console.open('/captchas/search');
    await page.getByLabel('User agent contains').fill('ODD-one');
    await page.getByLabel('Status', { exact: true }).selectOption('Pending');
    await button('Search').click();
    await page.getByText('1 captcha', { exact: true }).waitFor();
    await page.getByRole('table').getByRole('link').click();
    await dialog().getByText('odd-one/1.0').waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await page.waitForURL((url) => !url.searchParams.has('record'));
  });

  test('a criterion that the service refuses is named', async () => {
    console.expectMessage(/400/);
    await console.open('/captchas/search?ip=999.1.1.1');
    await console.page.getByRole('alert').getByText('searchCriteria.ip').waitFor();
  });
});

const full = {
  sessions: () => '/sessions',
  'one session': () => `/sessions/${jti}`,
  'numbers of captchas': () => `/captchas?captchaSite=${console.stack().siteKey}`,
};
test.each(Object.keys(full) as (keyof typeof full)[])(
  '%s: no fault that axe finds in both themes, and room on a phone',
  async (name) => {
    await console.comesAs({ reducedMotion: 'reduce', viewport: { width: 360, height: 800 } });
    await console.open(full[name]());
    await console.page.waitForLoadState('networkidle');
    expect(await faultsInBothThemes(console.page)).toEqual([]);
    expect(await console.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  },
);
