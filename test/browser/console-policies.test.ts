/** Policies in the console, from the first letter of a condition to the way back to an earlier version. */
import { expect, test } from 'vitest';
import { quickRules, signalsOf } from '../e2e/edge-visitor.ts';
import { faultsInBothThemes } from '../support/axe.ts';
import { browse } from '../support/browse.ts';
import { sessionByLink, signInLink, useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole({ edgeVars: quickRules });
const button = (name: string | RegExp) => console.page.getByRole('button', { name, exact: true });
const field = (label: string) => console.page.getByLabel(label, { exact: true });
const condition = () => console.page.getByRole('textbox', { name: 'Condition' });
/** The condition of a dialog as text. */
const asText = () => button('Text').click();
const option = (name: string) => console.page.getByRole('option', { name, exact: true });
const rowOf = (table: string, text: string) =>
  console.page.getByRole('table', { name: table, exact: true }).getByRole('row').filter({ hasText: text });

interface Listed {
  version: number;
  policies: { name: string; text: string; mode: string; then: object }[];
  limits: { name: string }[];
}
const stored = () => manage<Listed>(console.stack(), '/protect/policies');
const texts = async () => (await stored()).policies.map(({ name, text }) => `${name}: ${text}`);

const block = (name: string, when: string) => ({ name, when, then: { action: 'block' } });
async function begins(...policies: object[]): Promise<void> {
  const limits = [{ name: 'logins', key: ['ip'], count: 5, windowSeconds: 60 }];
  await manage(console.stack(), '/protect/policies/set', { policies, limits });
}
async function save(note?: string): Promise<void> {
  await button('Save…').click();
  if (note !== undefined) await field('Why').fill(note);
  await button('Save').click();
  await console.page.getByText('Saved as version').waitFor();
}

test('a policy is written with completions and the keyboard, moved, and saved as one version with its limits', async () => {
  const { page } = console;
  await begins(block('admin', 'path startsWith "/admin"'));
  await console.open('/policies');
  await button('Add a policy').press('Enter');
  await field('Name').fill('foreign-log-in');
  await asText();
  await condition().press('Control+Space');
  await option('path').waitFor();
  await condition().pressSequentially('pat');
  await option('pathType').waitFor();
  expect(await option('path').getAttribute('aria-selected')).toBe('true');
  expect(await condition().getAttribute('aria-activedescendant')).toBe(await option('path').getAttribute('id'));
  await condition().press('Enter');
  await condition().pressSequentially('eq');
  await condition().press('Enter');
  await condition().pressSequentially('"/login" and not cou');
  await condition().press('Enter');
  await condition().pressSequentially('in ["germ');
  await option('DE – Germany').click();
  await condition().press('ArrowDown');
  await condition().press('ArrowDown');
  await condition().press('Enter');
  expect(await condition().inputValue()).toBe('path equals "/login" and not country in ["DE"] ');
  // Escape closes the completions, and not the dialog.
  await condition().pressSequentially('and ');
  await option('not').waitFor();
  await condition().press('Escape');
  await option('not').waitFor({ state: 'hidden' });
  expect(await page.getByRole('dialog').count()).toBe(1);
  await condition().fill('path equals "/login" and not country in ["DE"]');
  await field('Action').selectOption('limit');
  await button('Add to the draft').click();
  const isNew = rowOf('Policies in their order', 'foreign-log-in').getByText('new', { exact: true });
  await isNew.waitFor();
  // A long name does not cut it.
  expect(
    await isNew.evaluate(
      (chip) => chip.getBoundingClientRect().right <= chip.closest('td')!.getBoundingClientRect().right,
    ),
  ).toBe(true);
  await button('Move foreign-log-in up').press('Enter');
  expect(await button('Move foreign-log-in up').isDisabled()).toBe(true);
  expect(await texts()).toEqual(['admin: path startsWith "/admin"']);

  await save('others log in here');
  await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'hidden' });
  const { policies, limits } = await stored();
  expect(policies.map(({ name }) => name)).toEqual(['foreign-log-in', 'admin']);
  expect(policies[0]).toMatchObject({
    text: 'path equals "/login" and not country in ["DE"]',
    mode: 'monitor',
    then: { action: 'limit', limit: 'logins' },
  });
  expect(limits.map(({ name }) => name)).toEqual(['logins']);
});

test('the draft is tested on a pasted request, each policy with its answer', async () => {
  const { page } = console;
  await begins(block('admin', 'path startsWith "/admin"'), block('partner', 'header["x-partner"] equals "blue"'));
  await console.open('/policies');
  await field('Enforce admin').click();
  await page.getByRole('link', { name: 'Try', exact: true }).click();
  await page.getByRole('heading', { name: 'Test the draft on a request' }).waitFor();
  await field('Request').fill('nothing');
  await button('Test').click();
  await page.getByText('begins with a line such as').waitFor();
  await field('Request').fill("curl 'https://shop.example/admin' -H 'x-partner: blue'");
  await button('Test').click();
  await page.getByText('partner says block.').waitFor();
  await rowOf('What each policy answers', 'admin').getByText('is recorded').waitFor();
  await rowOf('What each policy answers', 'partner').getByText('decides: block').waitFor();
  await button('Discard').click();
  await field('Request').fill('GET /admin HTTP/1.1\nHost: shop.example');
  await button('Test').click();
  await page.getByText('admin says block.').waitFor();
  await rowOf('What each policy answers', 'partner').getByText('false').waitFor();
});

test('somebody who saved meanwhile is not overwritten: the draft is kept, and comes on top of their version', async () => {
  const { page } = console;
  console.expectMessage(/status of 409/);
  await begins(block('one', 'path equals "/1"'), block('two', 'path equals "/2"'));
  await console.open('/policies');
  await field('Enforce one').click();
  await begins(block('one', 'path equals "/1"'), block('two', 'path equals "/changed"'));
  const { version } = await stored();
  await button('Save…').click();
  await button('Save').click();
  await page.getByRole('dialog').getByText('Nothing was saved, and your draft is kept.').waitFor();
  await button('Cancel').click();
  expect((await stored()).version).toBe(version);
  expect(await button('Save…').isDisabled()).toBe(true);
  await button(`Put my changes on version ${version}`).click();
  await rowOf('Policies in their order', 'two').getByText('/changed').waitFor();
  await save();
  const { policies } = await stored();
  expect(policies.map(({ name, text, mode }) => `${name} ${mode} ${text}`)).toEqual([
    'one monitor path equals "/1"',
    'two enforce path equals "/changed"',
  ]);
});

test('a deleted policy can be put back in its place, and a discarded draft changes nothing', async () => {
  const { page } = console;
  await begins(block('one', 'path equals "/1"'), block('two', 'path equals "/2"'));
  const { version } = await stored();
  await console.open('/policies');
  await button('Delete one').click();
  await page.getByText('1 change of version').waitFor();
  await button('Undo').click();
  await button('Save…').waitFor({ state: 'hidden' });
  await button('Edit one').click();
  await asText();
  await condition().fill('path equals "/other"');
  await field('Place').fill('3');
  await page.getByText('must be a number from 1 to 2').waitFor();
  await field('Place').fill('2');
  await button('Change in the draft').click();
  await rowOf('Policies in their order', 'one').getByRole('cell', { name: '2', exact: true }).waitFor();
  await rowOf('Policies in their order', 'one').getByText('changed', { exact: true }).waitFor();
  await button('Discard').click();
  await rowOf('Policies in their order', 'one').getByText('"/1"').waitFor();
  expect((await stored()).version).toBe(version);
});

test('who may only read sees the policies and no way to change them', async () => {
  await begins(block('one', 'path equals "/1"'));
  const email = 'reader@example.com';
  await manage(console.stack(), '/users/create', { email, name: 'Reader', role: 'viewer' });
  await console.comesAs({}, await sessionByLink(console.stack(), await signInLink(console.stack(), email)));
  await console.open('/policies');
  await rowOf('Policies in their order', 'one').waitFor();
  expect(await button('Add a policy').count()).toBe(0);
  expect(await button('Edit one').count()).toBe(0);
});

test('the views have no accessibility fault, in both themes and on a phone', async () => {
  await begins(block('one', 'path equals "/1" and (country in ["DE", "AT"] or header["x-partner"] equals "blue")'));
  for (const width of [1280, 360]) {
    // Colours that still change from one theme to the other are none of a theme.
    await console.comesAs({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
    const { page } = console;
    await console.open('/policies');
    await field('Enforce one').click();
    await button('Edit one').click();
    expect(await faultsInBothThemes(page)).toEqual([]);
    await asText();
    await condition().press('Control+Space');
    await page.getByRole('listbox').waitFor();
    expect(await faultsInBothThemes(page)).toEqual([]);
    await button('Cancel').click();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await page.getByRole('link', { name: 'Try', exact: true }).click();
    await field('Request').fill('https://shop.example/1');
    await button('Test').click();
    await page.getByRole('table', { name: 'What each policy answers' }).waitFor();
    expect(await faultsInBothThemes(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
});

test('the history says who changed what, compares two versions, and leads back to one of them', async () => {
  const { page } = console;
  await begins(block('one', 'path equals "/1"'));
  const first = (await stored()).version;
  await manage(console.stack(), '/protect/policies/set', {
    policies: [block('one', 'path equals "/other"'), block('two', 'path equals "/2"')],
    limits: [],
    note: 'a <b>note</b>',
  });
  await console.open('/policies/history');
  const rows = 'Versions, newest first';
  await rowOf(rows, 'a <b>note</b>').getByText('now').waitFor();
  await button(`Changes of version ${first + 1}`).click();
  const differences = page.getByRole('region', { name: 'Differences' });
  await differences.getByText('Condition: path equals "/other"').waitFor();
  for (const text of [
    'policy one changed',
    'Condition: path equals "/1"',
    'policy two added',
    'limit logins removed',
  ]) {
    await differences.getByText(text).waitFor();
  }
  expect(new URL(page.url()).search).toBe(`?from=${first}&to=${first + 1}`);
  expect(await faultsInBothThemes(page)).toEqual([]);
  await field('To').selectOption(String(first));
  await page.getByText('No difference.').waitFor();

  await button(`Go back to version ${first}`).click();
  await page.getByRole('dialog').getByText('policy two removed').waitFor();
  await field('Why').fill('too much');
  await button('Go back').click();
  await page.getByText(`Version ${first + 2} is what version ${first} was.`).waitFor();
  await rowOf(rows, 'too much').getByText(`back to version ${first}`).waitFor();
  const { policies, limits } = await stored();
  expect(policies.map(({ text }) => text)).toEqual(['path equals "/1"']);
  expect(limits.map(({ name }) => name)).toEqual(['logins']);
});

test('a save is undone in its notice, a limit too, and the history leads back to before the first version', async () => {
  const { page } = console;
  await begins(block('admin', 'path startsWith "/admin"'));
  await console.open('/policies');
  await button('Delete admin').click();
  await save();
  expect(await texts()).toEqual([]);
  await page.getByText('Saved as version').locator('..').getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone: version').waitFor();
  expect(await texts()).toEqual(['admin: path startsWith "/admin"']);
  await rowOf('Policies in their order', 'admin').waitFor();

  await console.open('/limits');
  await button('Remove logins').click();
  await button('Remove').click();
  await page.getByText('logins was removed.').locator('..').getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Undone: version').waitFor();
  expect((await stored()).limits).toEqual([expect.objectContaining({ name: 'logins' })]);

  await console.open('/policies/history');
  await button('Go back to version 0').click();
  await button('Go back').click();
  await page.getByText('is what version 0 was').waitFor();
  expect(await stored()).toMatchObject({ policies: [], limits: [] });
});

test('rules of Cloudflare are read with a report on each, and taken into the draft under free names', async () => {
  const { page } = console;
  await begins(block('line-1', 'path equals "/1"'));
  await console.open('/policies/import');
  await field('Or paste it').fill(
    'http.host eq "shop.example" and not ip.src in {192.0.2.0/24}\nhttp.user_agent contains "<b>"\ncf.threat_score gt 10\n',
  );
  await button('Read the rules').click();
  await page.getByText('1 taken, 1 taken with a difference, 1 not expressible.').waitFor();
  await rowOf('What became of each rule', 'cf.threat_score').getByText('has another scale').waitFor();
  await rowOf('What became of each rule', 'http.host').getByText('host equals "shop.example"').waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  await button('Take them into the draft').click();
  await page.getByText('2 changes of version').waitFor();
  await page.getByRole('link', { name: 'Policies', exact: true }).last().click();
  await rowOf('Policies in their order', 'line-1-2').getByText('shop.example').waitFor();
  await save('from Cloudflare');
  const { policies } = await stored();
  expect(policies.map(({ name, mode }) => `${name} ${mode}`)).toEqual([
    'line-1 enforce',
    'line-1-2 monitor',
    'line-2 monitor',
  ]);
});

test('an Anubis file is taken in place of all policies, and one without rules is refused with a sentence', async () => {
  const { page } = console;
  console.expectMessage(/status of 400/);
  await begins(block('one', 'path equals "/1"'));
  await console.open('/policies/import');
  await field('Format').selectOption('anubis');
  await field('Choose a file').setInputFiles({ name: 'a.yaml', mimeType: 'text/yaml', buffer: Buffer.from('x: 1') });
  await button('Read the rules').click();
  await page.getByRole('alert').getByText('The file has no rules to import').waitFor();
  const file = 'bots:\n  - name: Scraper\n    user_agent_regex: Scrapy\n    action: DENY\n';
  await field('Choose a file').setInputFiles({ name: 'b.yaml', mimeType: 'text/yaml', buffer: Buffer.from(file) });
  await button('Read the rules').click();
  await field('Where they go').selectOption('replace');
  await button('Take them into the draft').click();
  await save();
  expect((await stored()).policies.map(({ name, then }) => ({ name, then }))).toEqual([
    { name: 'scraper', then: { action: 'block' } },
  ]);
});

test('a preview says which logged requests the draft would have decided otherwise', async () => {
  const { page } = console;
  const stack = console.stack();
  await begins();
  await browse(`${stack.edgeUrl}/previewed`, { headers: signalsOf(stack, { from: '20.9.9.1' }) });
  await eventually(
    () => manage<{ total: number }>(stack, '/protect/verdicts', { requestPath: '/previewed' }),
    ({ total }) => total > 0,
  );
  await console.open('/policies');
  await button('Add a policy').click();
  await field('Name').fill('previewed');
  await asText();
  await condition().fill('path equals "/previewed" or cookie["a"] exists and path equals "/previewed"');
  await field('Action').selectOption('block');
  await field('Mode').selectOption('enforce');
  await button('Preview').click();
  await page.getByRole('dialog').getByText('would have been decided otherwise').waitFor();
  await rowOf('Policies that would have fired', 'previewed').waitFor();
  await page.getByRole('columnheader', { name: 'Requests it may meet' }).waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  // What it found is of the policy as it was.
  await field('Action').selectOption('challenge');
  expect(await page.getByText('would have been decided otherwise').count()).toBe(0);
  await field('Action').selectOption('block');
  await button('Add to the draft').click();
  await page.getByRole('link', { name: 'Try', exact: true }).click();
  await button('Preview').click();
  await page.getByText('would have been decided otherwise').waitFor();
  await rowOf('Policies that would have fired', 'previewed').waitFor();
  await rowOf('Examples', '/previewed').waitFor();
  await button('Discard').click();
});
