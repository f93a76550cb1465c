/**
 * "Why was this visitor blocked?" in the console: from what a visitor quotes to what decided, and from there to a rule,
 * with its numbers before and its undo after.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { faultsInBothThemes } from '../support/axe.ts';
import { sessionByLink, signInLink, useConsole } from '../support/console.ts';
import {
  blockedVisit,
  HOSTILE,
  implausibleSession,
  type LoggedVerdict,
  statusOf,
  verdictOf,
} from '../support/console-visits.ts';
import { browse } from '../support/browse.ts';
import { eventually, manage } from '../support/stack.ts';
import { stackNow } from '../support/clock.ts';

const console = useConsole();

const TEST_ADDRESS = '127.0.0.1';

interface Rule {
  type: string;
  value: string;
  verdict: string;
  mode: string;
  expiry: string | null;
  note: string | null;
}

/** Of the request that the gate blocked before the first test. */
let blocked: LoggedVerdict;
/** Of a session whose page reported what no page can. */
let jti: string;

const api = <Answer>(path: string, body: object = {}): Promise<Answer> => manage<Answer>(console.stack(), path, body);
const loggedVerdict = (body: object, isWanted: (one: LoggedVerdict) => boolean) =>
  verdictOf(console.stack(), body, isWanted);
const button = (name: string | RegExp) => console.page.getByRole('button', { name, exact: typeof name === 'string' });
const dialog = () => console.page.getByRole('dialog');

/** Up to the dialog that says what would change. */
async function beginToBlock({ request_id: requestId }: LoggedVerdict): Promise<void> {
  await console.open(`/verdicts/${requestId}`);
  await button('Block this user agent…').click();
  await dialog()
    .getByText(/would have been decided otherwise/)
    .waitFor();
}

async function rules(): Promise<Rule[]> {
  return (await api<{ rules: Rule[] }>('/protect/access-rules')).rules;
}

async function paste(text: string): Promise<void> {
  await console.page.getByRole('searchbox').fill(text);
  await console.page.keyboard.press('Enter');
}

beforeAll(async () => {
  blocked = await blockedVisit(console.stack());
  jti = await implausibleSession(console.stack());
});

describe('from what a visitor quotes to what decided', () => {
  const decidingRow = () => console.page.getByRole('row', { name: /^userAgent:quotedbot decided/ });

  test('a reference leads to the deciding rule at once, with what each input said', async () => {
    await console.open('/find');
    await paste(` ${blocked.request_id.toUpperCase()} `);
    await decidingRow().waitFor();
    const { page } = console;
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Why this was blocked');
    const explained = await api<{ table: { outcome: string }[]; without: { decision: string } }>(
      '/protect/verdicts/explain',
      { requestId: blocked.request_id },
    );
    const inputs = page.getByRole('table', { name: /What each input said/ }).getByRole('row');
    expect(await inputs.count()).toBe(explained.table.length + 1);
    expect(await page.getByRole('row', { name: /Client rule/ }).innerText()).toMatch(/block.*quotedbot.*decided/s);
    expect(explained.without.decision).toBe('allow');
    await page.getByText('Without userAgent:quotedbot: allow').waitFor();
    await page.getByText('because an access rule is for user agents with quotedbot. No challenge lifts it.').waitFor();
  });

  test('an address leads to its verdicts, and a click to the deciding rule', async () => {
    await console.open('/find');
    await paste(TEST_ADDRESS);
    const row = console.page.getByRole('row', { name: /user agents with quotedbot/ }).first();
    await row.getByRole('link').first().click();
    await decidingRow().waitFor();
  });

  test('a user agent leads to the rules that say something about it, and to its newest verdicts', async () => {
    await console.open('/find');
    await paste(HOSTILE);
    const { page } = console;
    await page.getByText('block by userAgent:quotedbot').waitFor();
    await page
      .getByRole('row', { name: /user agents with quotedbot/ })
      .first()
      .getByRole('link')
      .first()
      .click();
    await decidingRow().waitFor();
  });

  test('a session leads to its requests, each with what decided it', async () => {
    await console.open('/find');
    await paste(jti);
    await console.page.getByRole('heading', { name: 'Session', exact: true }).waitFor();
    await console.page
      .getByRole('row', { name: /of-the-session/ })
      .getByRole('link')
      .click();
    await console.page.getByText('No rule fired.').waitFor();
  });

  test('a reference that nobody has is said to be unknown', async () => {
    console.expectMessage(/404/);
    await console.open('/verdicts/01a20432-74c6-7eac-be38-d521a187cda6');
    await console.page.getByRole('heading', { name: 'No verdict has this reference' }).waitFor();
  });

  test('what a visitor sent is text', async () => {
    await console.open(`/verdicts/${blocked.request_id}`);
    await console.page.getByText(HOSTILE).first().waitFor();
    expect(await console.page.locator('main img').count()).toBe(0);
  });
});

test('the list of verdicts has its three usual filters in view, and the others behind one button unless they have a value', async () => {
  const { page } = console;
  const shown = () => page.locator('.filters .field > :is(label, .field-label):visible').allInnerTexts();
  const usual = ['Decision', 'Address', 'Reference'];
  await console.open('/verdicts');
  await page.getByRole('row').nth(1).waitFor();
  expect(await shown()).toEqual(usual);
  await button('Filters').click();
  expect(await shown()).toHaveLength(12);
  await console.open('/verdicts?path=/*');
  await page.getByRole('row').nth(1).waitFor();
  expect(await shown()).toEqual([...usual, 'Path']);
});

test('the overview names reasons and rules in words, and has their ids as hints', async () => {
  await console.open('');
  const valueIn = (list: string, id: string) =>
    console.page.getByRole('table', { name: `${list}, largest first` }).locator(`[title="${id}"]`);
  expect(await valueIn('Reasons', 'access-rule').innerText()).toBe('access rules');
  const rule = 'userAgent:quotedbot';
  expect(await valueIn('Rules that fired', rule).innerText()).toBe('An access rule is for user agents with quotedbot');
});

test('8 KB of markup, turned directions and control characters are text in the views of a verdict, and can be seen', async () => {
  const { page } = console;
  // As a client would send them that keeps to no rules: UTF-8 in a header.
  const turned = Buffer.from('\u202e\u2066\u0085').toString('latin1');
  const userAgent = `quotedbot/2.0 <script>alert(1)</script> ${turned} ${'<b>'.repeat(2600)}`;
  const path = `/${encodeURIComponent('<img src=x onerror=alert(1)>\u202e\u0007')}/${'x'.repeat(7000)}?q=${'%00'.repeat(300)}`;
  await browse(`${console.stack().edgeUrl}${path}`, { headers: { 'user-agent': userAgent } });
  const { request_id } = await loggedVerdict({ decision: 'block' }, ({ user_agent: text }) => text.includes('bot/2.0'));
  for (const route of [`/verdicts/${request_id}`, '/verdicts?decision=block', '/find?q=quotedbot']) {
    await console.open(route);
    await page.getByText('quotedbot/2.0').first().waitFor();
    expect(await page.locator('main :is(img, script, b > b)').count()).toBe(0);
    const { text, isWide } = await page.evaluate(() => ({
      text: document.body.innerText,
      isWide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
    }));
    // oxlint-disable-next-line no-control-regex -- they are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0008\u0085\u202a-\u202e\u2066-\u2069]/);
    expect([route, isWide, text.includes('U+202E')]).toEqual([route, false, true]);
  }
});

describe('from a verdict to a rule', () => {
  test('a user agent is blocked at the edge, with the numbers before, and let through again by the undo', async () => {
    const name = 'undo-me/2.0';
    expect(await statusOf(console.stack(), name)).toBe(200);
    const verdict = await loggedVerdict({}, ({ user_agent: text }) => text === name);
    await console.open(`/verdicts/${verdict.request_id}`);
    await button('Block this user agent…').click();
    await dialog()
      .getByText(/requests would have been decided otherwise,\s+from 1 address/)
      .waitFor();
    await dialog().getByRole('button', { name: 'Block', exact: true }).click();
    await console.page.getByText('The rule is added.').waitFor();
    await eventually(
      () => statusOf(console.stack(), name),
      (status) => status === 403,
    );
    await button('Undo').click();
    await console.page.getByText('Undone: the rule is gone.').waitFor();
    await eventually(
      () => statusOf(console.stack(), name),
      (status) => status === 200,
    );
    expect((await rules()).map(({ value }) => value)).not.toContain(name);
  });

  test('an address is allowed for an hour, and the undo brings back the rule that was there', async () => {
    const before = { type: 'ip', value: TEST_ADDRESS, verdict: 'block', mode: 'monitor', note: 'office' };
    await api('/protect/access-rules/create', { rules: [before] });
    await console.open(`/verdicts/${blocked.request_id}`);
    await button('Allow this address for an hour…').click();
    await dialog().getByText('There is a rule for this already').waitFor();
    const askedAt = stackNow();
    await dialog().getByRole('button', { name: 'Allow', exact: true }).click();
    await eventually(
      () => statusOf(console.stack(), HOSTILE),
      (status) => status === 200,
    );
    const allowed = (await rules()).find(({ value }) => value === TEST_ADDRESS)!;
    expect(allowed).toMatchObject({ verdict: 'allow', note: `From verdict ${blocked.request_id}` });
    // Rules end at whole seconds.
    expect(Date.parse(allowed.expiry!)).toBeGreaterThanOrEqual(askedAt + 3_599_000);
    await button('Undo').click();
    await eventually(
      () => statusOf(console.stack(), HOSTILE),
      (status) => status === 403,
    );
    expect((await rules()).find(({ value }) => value === TEST_ADDRESS)).toMatchObject({ ...before, expiry: null });
    await api('/protect/access-rules/delete', { conditions: [{ type: 'ip', value: TEST_ADDRESS }] });
  });

  test('the deciding rule is deleted after its hits are said, and comes back whole', async () => {
    await console.open(`/verdicts/${blocked.request_id}`);
    await button('Delete userAgent:quotedbot').click();
    await dialog()
      .getByText(/It fired in \d+ requests? of the last 24 hours/)
      .waitFor();
    await button('Delete the rule').click();
    await console.page.getByText('deleted since').waitFor();
    await button('Undo').click();
    await console.page.getByText('Undone: the rule is as it was.').waitFor();
    const rule = (await rules()).find(({ value }) => value === 'quotedbot');
    expect(rule).toMatchObject({ verdict: 'block', note: 'seen in March', expiry: null });
  });

  test('the second of two people is told, and nothing is overwritten', async () => {
    console.expectMessage(/409/);
    const name = 'two-people/1.0';
    await statusOf(console.stack(), name);
    const verdict = await loggedVerdict({}, ({ user_agent: text }) => text === name);
    await beginToBlock(verdict);
    const first = { type: 'userAgent', value: name, verdict: 'challenge', mode: 'monitor', note: 'the first' };
    await api('/protect/access-rules/create', { rules: [first] });
    await dialog().getByRole('button', { name: 'Block', exact: true }).click();
    await dialog().getByText('Somebody else has changed this rule meanwhile.').waitFor();
    expect((await rules()).find(({ value }) => value === name)).toMatchObject(first);
  });

  test('a change of another rule at the same time does not stand in the way', async () => {
    const name = 'not-in-the-way/1.0';
    await statusOf(console.stack(), name);
    const verdict = await loggedVerdict({}, ({ user_agent: text }) => text === name);
    await beginToBlock(verdict);
    await api('/protect/access-rules/create', { rules: [{ type: 'asn', value: '64502', verdict: 'block' }] });
    await dialog().getByRole('button', { name: 'Block', exact: true }).click();
    await console.page.getByText('The rule is added.').waitFor();
  });

  test('a viewer reads why and gets no button to change it', async () => {
    const stack = console.stack();
    await manage(stack, '/users/create', { email: 'viewer-of-verdicts@example.com', name: 'Reader', role: 'viewer' });
    await console.comesAs({}, await sessionByLink(stack, await signInLink(stack, 'viewer-of-verdicts@example.com')));
    await console.open(`/verdicts/${blocked.request_id}`);
    await console.page.getByRole('row', { name: /^userAgent:quotedbot decided/ }).waitFor();
    expect(await button(/Block|Allow|Edit|Delete/).count()).toBe(0);
    await console.open(`/sessions/${jti}`);
    await console.page.getByRole('heading', { name: 'Risk over time' }).waitFor();
    expect(await button(/Erase/).count()).toBe(0);
  });

  test('everything is within reach of the keyboard', async () => {
    const { page } = console;
    await console.open('/find');
    await page.keyboard.press('/');
    await page.keyboard.type(blocked.request_id);
    await page.keyboard.press('Enter');
    await button('Block this user agent…').waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    await eventually(
      async () => {
        await page.keyboard.press('Tab');
        return focused();
      },
      (text) => text === 'Block this user agent…',
    );
    await page.keyboard.press('Enter');
    await dialog().waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    expect(await focused()).toBe('Block this user agent…');
  });
});

test('a user agent that was looked for: no fault that axe finds in both themes, and room on a phone', async () => {
  await console.comesAs({ reducedMotion: 'reduce', viewport: { width: 360, height: 800 } });
  await console.open('/find?q=quotedbot');
  await console.page.waitForLoadState('networkidle');
  expect(await faultsInBothThemes(console.page)).toEqual([]);
  expect(await console.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
});

test('a dialog has no fault that axe finds, in both themes', async () => {
  await console.comesAs({ reducedMotion: 'reduce' });
  await beginToBlock(blocked);
  expect(await faultsInBothThemes(console.page)).toEqual([]);
});
