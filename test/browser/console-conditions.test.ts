/** The condition of a policy in the console: by clicks, as text, and from an expression of Cloudflare. */
import { expect, test } from 'vitest';
import { faultsInBothThemes } from '../support/axe.ts';
import { useConsole } from '../support/console.ts';
import { manage } from '../support/stack.ts';

const console = useConsole();
const button = (name: string) => console.page.getByRole('button', { name, exact: true });
const field = (label: string) => console.page.getByLabel(label, { exact: true });
const condition = () => console.page.getByRole('textbox', { name: 'Condition' });
const rowOf = (text: string) =>
  console.page
    .getByRole('table', { name: 'Policies in their order', exact: true })
    .getByRole('row')
    .filter({ hasText: text });
/** The condition of a dialog as text. */
const asText = () => button('Text').click();

/** A new policy of an instance that has none. */
async function addPolicy(name: string): Promise<void> {
  await manage(console.stack(), '/protect/policies/set', { policies: [], limits: [] });
  await console.open('/policies');
  await console.page.getByRole('heading', { name: 'No policy yet' }).waitFor();
  await button('Add a policy').click();
  await field('Name').fill(name);
}

test('a condition is built by clicks, is the same as text, and loses nothing between the two', async () => {
  const { page } = console;
  const row = (name: string) => page.getByRole('group', { name, exact: true });
  const inRow = (name: string, label: string) => row(name).getByLabel(label, { exact: true });
  await addPolicy('clicked');
  expect(await button('Add to the draft').isDisabled()).toBe(true);
  await inRow('Row 1', 'Value').fill('login');
  await row('Row 1').getByText('must begin with "/"').waitFor();
  await inRow('Row 1', 'Value').fill('/login');
  await button('Add a row').click();
  await inRow('Row 2', 'Field').selectOption('country');
  await inRow('Row 2', 'Operator').selectOption('is none of');
  await inRow('Row 2', 'Values, one per line').fill('de, at');
  await button('or … beside row 2').click();
  expect(await button('Add to the group 2').evaluate((element) => element === document.activeElement)).toBe(true);
  await inRow('Row 2.2', 'Field').selectOption('header');
  await inRow('Row 2.2', 'Operator').selectOption('is');
  await inRow('Row 2.2', 'Value').fill('blue');
  await page.getByText('Fill in every row.').waitFor();
  // Also rows that are not filled in are there again after a look at the text.
  await asText();
  await button('Rows').click();
  expect(await inRow('Row 2.2', 'Value').inputValue()).toBe('blue');
  await inRow('Row 2.2', 'Which').fill('x-partner');
  const text = 'path startsWith "/login" and (not country in ["DE", "AT"] or header["x-partner"] equals "blue")';
  await page.getByText(text).waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);

  await asText();
  expect(await condition().inputValue()).toBe(text);
  await condition().fill(`${text} and ipCategory in ["tor"]`);
  await button('Rows').click();
  expect(await inRow('Row 3', 'Field').inputValue()).toBe('ipCategory');
  await row('Row 3').getByLabel('vpn').check();
  await button('Remove row 2.1').click();
  await inRow('Row 2', 'Field').waitFor();
  await field('A request must meet').selectOption('one of these');
  await button('Add to the draft').click();
  await button('Save…').click();
  await button('Save').click();
  await page.getByText('Saved as version').waitFor();
  const { policies } = await manage<{ policies: { text: string }[] }>(console.stack(), '/protect/policies');
  expect(policies.map((policy) => policy.text)).toEqual([
    'path startsWith "/login" or header["x-partner"] equals "blue" or ipCategory in ["tor", "vpn"]',
  ]);

  const deep = 'path equals "/a" and (asn equals 1 or asn equals 2 and country exists)';
  await button('Edit clicked').click();
  await asText();
  await condition().fill(deep);
  await button('Rows').click();
  await page.getByText('Rows cannot show this condition').waitFor();
  await button('Change in the draft').click();
  await rowOf('clicked').getByText(deep).waitFor();
  await button('Edit clicked').click();
  expect(await condition().inputValue()).toBe(deep);
  await button('Cancel').click();
  await button('Discard').click();
});

test('an error of a condition is marked at its place and said in words, and keeps the policy out of the draft', async () => {
  const { page } = console;
  await addPolicy('wrong');
  await asText();
  await condition().fill('path equals "/a" and\n  contry exists');
  const said = page.getByText('Line 2, column 3: expected a field, "not" or "(", found "contry"');
  await said.first().waitFor();
  expect(await condition().getAttribute('aria-invalid')).toBe('true');
  expect(await page.locator('mark').innerText()).toBe('contry');
  expect(await button('Add to the draft').isDisabled()).toBe(true);
  await button('Go to the place').click();
  expect(await condition().evaluate((area: HTMLTextAreaElement) => area.selectionStart)).toBe(23);
  // What the parser does not know, the service says before anything is in the draft.
  console.expectMessage(/status of 400/);
  await condition().fill('path equals "/a"');
  await field('Action').selectOption('redirect');
  await field('Location').fill('//elsewhere.example/');
  await button('Add to the draft').click();
  await page.getByRole('dialog').getByRole('alert').getByText('must be a path of the same site').waitFor();
  expect(await faultsInBothThemes(page)).toEqual([]);
  await button('Cancel').click();
});

test('an expression of Cloudflare in the place of a condition is read by the importer, with its differences', async () => {
  const { page } = console;
  await addPolicy('from-cloudflare');
  await asText();
  const pasted = '(ip.src in {1.2.3.0/24}\n and http.request.uri.path contains "/wp-login")';
  const readAs = 'ip ipIn ["1.2.3.0/24"] and path contains "/wp-login"';
  await condition().fill(pasted);
  await button('Read it as a condition').click();
  await page.getByText('with these differences').waitFor();
  await page.getByText('a path is compared in every way').waitFor();
  expect(await condition().inputValue()).toBe(readAs);
  await button('Back to what was pasted').click();
  expect(await condition().inputValue()).toBe(pasted);
  await condition().fill('cf.threat_score gt 10');
  await button('Read it as a condition').click();
  await page.getByText('A policy cannot say it: cf.threat_score has no counterpart').waitFor();
  expect(await condition().inputValue()).toBe('cf.threat_score gt 10');
  expect(await faultsInBothThemes(page)).toEqual([]);
  await condition().fill('path != "/login" and country not in ["DE"]');
  await button('Add to the draft').click();
  await rowOf('from-cloudflare').getByText('not path equals "/login" and not country in').waitFor();
  await button('Discard').click();
});
