/**
 * Lists and limits in the console, over the real service. The publisher cannot be reached from here, so most lists are
 * files.
 */
import { expect, test } from 'vitest';
import { quickRules, signalsOf } from '../e2e/edge-visitor.ts';
import { faultsInBothThemes } from '../support/axe.ts';
import { browse } from '../support/browse.ts';
import { sessionByLink, signInLink, useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole({ edgeVars: quickRules });
const button = (name: string) => console.page.getByRole('button', { name, exact: true });
const dialog = () => console.page.getByRole('dialog');

interface List {
  name: string;
  url: string | null;
  mode: string;
  verdict: string;
  entries: number;
  expirySeconds: number | null;
  maxChangePercent: number;
  hasAuthorization: boolean;
}
const lists = async () => (await manage<{ lists: List[] }>(console.stack(), '/protect/lists')).lists;
const listNamed = async (name: string) => (await lists()).find((one) => one.name === name);
const rowOf = (table: string, text: string) =>
  console.page.getByRole('table', { name: table, exact: true }).getByRole('row').filter({ hasText: text });
const fileOf = (text: string) => ({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });

async function makeFile(name: string, content: string, settings: object = {}): Promise<void> {
  await manage(console.stack(), '/protect/lists/create', { name, ...settings });
  await manage(console.stack(), '/protect/lists/replace', { name, content });
}

test('a list that is a file is added, filled, previewed, enforced and removed, with the keyboard', async () => {
  const { page } = console;
  await console.open('/lists');
  await page.getByRole('heading', { name: 'No list yet' }).waitFor();
  await button('Add a list').press('Enter');
  await page.getByLabel('Name', { exact: true }).fill('partners');
  await page.getByLabel('Name', { exact: true }).press('Enter');
  await page.getByRole('heading', { name: 'List partners' }).waitFor();
  await page.getByText('not read yet').waitFor();

  await button('Replace the file…').press('Enter');
  await page
    .getByLabel('Choose the file')
    .setInputFiles(fileOf('203.0.113.7\n<b>no network</b>\n127.0.0.0/8\n20.9.9.0/24\n'));
  await button('Preview').press('Enter');
  await dialog().getByText('would come').waitFor();
  await rowOf('Lines that were left out', '<b>no').waitFor();
  expect((await listNamed('partners'))?.entries).toBe(0);
  await button('Replace').press('Enter');
  await page.getByText(/partners was read/).waitFor();
  const { entries } = (await listNamed('partners'))!;
  expect(entries).toBeGreaterThan(0);
  await rowOf('Lines that were left out', '127.0.0.0/8').waitFor();

  await button('Preview and enforce…').press('Enter');
  expect(await button('Enforce').isDisabled()).toBe(true);
  await page.getByLabel('Choose the file').setInputFiles(fileOf('20.9.9.0/24\n'));
  await button('Preview').press('Enter');
  await dialog().getByText('would have been decided otherwise').waitFor();
  await button('Enforce').press('Enter');
  await page.getByText('partners is enforced.').waitFor();
  expect(await listNamed('partners')).toMatchObject({ mode: 'enforce', entries });
  await button('Only monitor…').click();
  await button('Only monitor').click();
  await page.getByText('partners only records now.').waitFor();
  expect((await listNamed('partners'))?.mode).toBe('monitor');

  await button('Remove…').click();
  await button('Remove').click();
  await page.getByRole('heading', { name: 'No list yet' }).waitFor();
  expect(await lists()).toEqual([]);
});

test('the preview says what an enforced list would have done to the requests of the last day', async () => {
  const { page } = console;
  const stack = console.stack();
  await browse(`${stack.edgeUrl}/previewed`, { headers: signalsOf(stack, { from: '20.9.9.1' }) });
  const { verdicts } = await eventually(
    () => manage<{ verdicts: { ip: string }[] }>(stack, '/protect/verdicts', { requestPath: '/previewed' }),
    (found) => found.verdicts.length > 0,
  );
  expect(verdicts[0]!.ip).toBe('20.9.9.1');
  await makeFile('everyone', '20.9.9.0/24');
  await console.open('/lists/everyone');
  await button('Preview and enforce…').click();
  await page.getByLabel('Choose the file').setInputFiles(fileOf('20.9.9.0/24'));
  await button('Preview').click();
  await dialog().getByText('would have been decided otherwise').waitFor();
  expect(await dialog().innerText()).toContain('/previewed');
  await button('Cancel').click();
  expect((await listNamed('everyone'))?.mode).toBe('monitor');
  await manage(stack, '/protect/lists/delete', { name: 'everyone' });
});

test('a file that changes too much is refused in the form, and taken when the change is accepted', async () => {
  const { page } = console;
  console.expectMessage(/status of 409/);
  const many = Array.from({ length: 40 }, (_, at) => `20.9.${at}.0/24`).join('\n');
  await makeFile('large', many);
  await console.open('/lists/large');
  await button('Replace the file…').click();
  await page.getByLabel('Choose the file').setInputFiles(fileOf('20.9.1.0/24\n'));
  await button('Replace').click();
  await dialog().getByRole('alert').waitFor();
  expect((await listNamed('large'))?.entries).toBe(40);
  await page.getByLabel('Accept a change of more than 50 %').check();
  await button('Replace').click();
  await page.getByText(/large was read: 1 entry/).waitFor();
  expect((await listNamed('large'))?.entries).toBe(1);
  await manage(console.stack(), '/protect/lists/delete', { name: 'large' });
});

test('a subscription that cannot be read says why, and keeps its header to itself', async () => {
  const { page } = console;
  await console.open('/lists');
  await button('Add a list').click();
  await page.getByLabel('Name', { exact: true }).fill('feed');
  await page.getByLabel('Address', { exact: true }).fill('https://lists.invalid/drop.txt');
  await page.getByLabel('Name of the header').fill('X-Api-Key');
  await page.getByLabel('Value of the header').fill('a-secret-value');
  await button('Add').click();
  await page.getByRole('heading', { name: 'List feed' }).waitFor();
  expect(await listNamed('feed')).toMatchObject({ hasAuthorization: true, mode: 'monitor' });
  await button('Read it now').click();
  await page.getByText('It was never read well, so it has no entries.').waitFor();
  await page.getByText(/attempts? failed/).waitFor();
  expect(await page.content()).not.toContain('a-secret-value');
  await console.open('/lists');
  await rowOf('Lists', 'feed').getByText('https://lists.invalid').waitFor();
  expect(await rowOf('Lists', 'feed').locator('div.soft').innerText()).not.toBe('');
  await manage(console.stack(), '/protect/lists/delete', { name: 'feed' });
});

test('a list that the service refuses stays in the form with the reason', async () => {
  const { page } = console;
  console.expectMessage(/status of 400/);
  await console.open('/lists');
  await button('Add a list').click();
  await page.getByLabel('Name', { exact: true }).fill('inside');
  await page.getByLabel('Address', { exact: true }).fill('http://192.168.0.1/list');
  await button('Add').click();
  await page.getByRole('alert').getByText('must be a public https address').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('inside');
  expect(await listNamed('inside')).toBeUndefined();
});

test('of two people who change one setting, the second is told, and another setting stays', async () => {
  const { page } = console;
  await makeFile('shared', '20.9.9.0/24');
  await console.open('/lists/shared');
  await button('Change…').click();
  await page.getByLabel('Largest change of a reading, in percent').fill('70');
  await manage(console.stack(), '/protect/lists/update', { name: 'shared', maxChangePercent: 60, expirySeconds: 7200 });
  await button('Save').click();
  await page.getByText('Somebody else has changed maxChangePercent meanwhile.').waitFor();
  expect((await listNamed('shared'))?.maxChangePercent).toBe(60);
  await button('Save').click();
  await page.getByText('shared was changed.').waitFor();
  expect(await listNamed('shared')).toMatchObject({ maxChangePercent: 70, expirySeconds: 7200 });
  await manage(console.stack(), '/protect/lists/delete', { name: 'shared' });
});

test('people who may only read see a list without buttons that change it', async () => {
  const viewer = { email: 'viewer-of-lists@example.com', name: 'Vi', role: 'viewer' };
  await manage(console.stack(), '/users/create', viewer);
  const cookie = await sessionByLink(console.stack(), await signInLink(console.stack(), viewer.email));
  await makeFile('seen', '20.9.9.0/24');
  await console.comesAs({}, cookie);
  await console.open('/lists');
  await rowOf('Lists', 'seen').getByRole('link').click();
  await console.page.getByRole('heading', { name: 'Readings' }).waitFor();
  expect(await console.page.getByRole('button', { name: /…$|Read it now/ }).count()).toBe(0);
  await console.open('/limits');
  await console.page.getByRole('heading', { name: 'No limit yet' }).waitFor();
  expect(await button('Add a limit').count()).toBe(0);
  await manage(console.stack(), '/protect/lists/delete', { name: 'seen' });
});

interface PolicySet {
  version: number;
  policies: { name: string; text: string }[];
  limits: { name: string; count: number; mode: string }[];
}
const policySet = () => manage<PolicySet>(console.stack(), '/protect/policies');

test('a limit is added for some requests, enforced after a look at who was above it, and removed with its policy', async () => {
  const { page } = console;
  const stack = console.stack();
  const path = '/once-an-hour';
  const visit = async () =>
    (await browse(`${stack.edgeUrl}${path}`, { headers: signalsOf(stack, { from: '20.9.9.2' }) })).status;
  console.expectMessage(/status of 400/);
  await console.open('/limits');
  await button('Add a limit').press('Enter');
  await page.getByLabel('Name', { exact: true }).fill('hourly');
  await dialog().getByText('It becomes the first policy of the list.').waitFor();
  await page.getByLabel('Requests that it is for').fill(`path equal "${path}"`);
  await page.getByLabel('At most').fill('0');
  await dialog().getByText('A whole number from 1 to 1,000,000.').waitFor();
  expect(await button('Add').isDisabled()).toBe(true);
  await page.getByLabel('At most').fill('1');
  await page.getByLabel('Unit of the window').selectOption('hours');
  await button('Add').click();
  await dialog().locator('.field-error', { hasText: 'line 1, column 6' }).waitFor();
  await page.getByLabel('Requests that it is for').fill(`path equals "${path}"`);
  await button('Preview').click();
  await dialog().getByText('0 of 0 requests that it is for would have been above it', { exact: false }).waitFor();
  await page.getByLabel('Requests that it is for').press('Enter');
  await page.getByText('hourly was added.', { exact: false }).waitFor();
  await page.getByText('1 request in 1 hour').waitFor();
  expect(await policySet()).toMatchObject({
    policies: [{ name: 'hourly', text: `path equals "${path}"` }],
    limits: [{ name: 'hourly', mode: 'monitor' }],
  });

  const above = await eventually(
    async () => {
      await visit();
      return manage<{ verdicts: { decided_by: string; fired_rules: { id: string }[] }[] }>(stack, '/protect/verdicts', {
        firedRules: ['limit:hourly'],
      });
    },
    ({ verdicts }) => verdicts.length > 0,
  );
  expect(above.verdicts[0]!.decided_by).not.toBe('limit:hourly');
  await console.open('/limits');
  await page.getByRole('link', { name: /^[1-9]\d* requests?$/ }).waitFor();
  await button('Enforce hourly').click();
  await dialog()
    .getByText(/^[1-9]\d* requests? of the last 24 hours would have been above it\.$/)
    .waitFor();
  await button('Preview').click();
  await dialog().getByRole('row').filter({ hasText: '20.9.9.2' }).waitFor();
  await button('Enforce').click();
  await page.getByText('hourly is enforced.', { exact: false }).waitFor();
  await eventually(visit, (status) => status === 429);

  const refused = await eventually(
    () =>
      manage<{ verdicts: { request_id: string }[] }>(stack, '/protect/verdicts', {
        firedRules: ['limit:hourly'],
        decision: 'block',
      }),
    ({ verdicts }) => verdicts.length > 0,
  );
  await console.open(`/verdicts/${refused.verdicts[0]!.request_id}`);
  await rowOf('Policies, limits and lists', 'limit hourly').getByText('nothing').waitFor();
  await rowOf('Policies, limits and lists', '1 request in 1 hour, then 429').waitFor();
  await rowOf('Policies, limits and lists', 'hourly decided').getByRole('link', { name: 'hourly' }).click();
  await page.getByRole('heading', { name: 'Limits' }).waitFor();
  await button('Remove hourly').click();
  await dialog().getByText('The policy that uses it goes with it').waitFor();
  await button('Remove').click();
  await page.getByRole('heading', { name: 'No limit yet' }).waitFor();
  expect(await policySet()).toMatchObject({ policies: [], limits: [] });
});

test('a limit by user begins with a challenge, and the form says what a refusal risks', async () => {
  const { page } = console;
  await console.open('/limits');
  await button('Add a limit').click();
  const above = page.getByLabel('Above it a request gets');
  expect(await above.inputValue()).toBe('429');
  await page.getByLabel('user name at login').check();
  expect(await above.inputValue()).toBe('challenge');
  await above.selectOption('429');
  await dialog().getByText('Anybody who knows a user’s name can keep that person out').waitFor();
  await button('Cancel').click();
});

test('of two people who change one limit, the second is told, and a change beside it stays', async () => {
  const { page } = console;
  console.expectMessage(/status of 409/);
  const limit = { name: 'shared', key: ['ip', 'path'], count: 5, windowSeconds: 90 };
  const set = (limits: object[]) => manage(console.stack(), '/protect/policies/set', { limits });
  await set([limit]);
  await console.open('/limits');
  await page.getByText('5 requests in 90 seconds').waitFor();
  await button('Change shared').click();
  await page.getByLabel('At most').fill('7');
  await set([
    { ...limit, count: 6 },
    { ...limit, name: 'beside' },
  ]);
  await button('Save').click();
  await page.getByText('Somebody else has changed shared meanwhile.', { exact: false }).waitFor();
  await button('Save').click();
  await page.getByText('shared was changed.', { exact: false }).waitFor();
  expect((await policySet()).limits).toMatchObject([
    { name: 'shared', count: 7, key: ['ip', 'path'] },
    { name: 'beside', count: 5 },
  ]);
});

test('the form of a limit fits a screen: its buttons stay in view while it scrolls, and so does what a preview finds', async () => {
  for (const viewport of [
    { width: 1280, height: 720 },
    { width: 390, height: 844 },
  ]) {
    await console.comesAs({ viewport });
    const { page } = console;
    const seen = async (name: string) => {
      const { x, y, width, height } = (await button(name).boundingBox())!;
      return x >= 0 && y >= 0 && x + width <= viewport.width && y + height <= viewport.height;
    };
    await console.open('/limits');
    await button('Add a limit').click();
    await page.getByLabel('Name', { exact: true }).fill('fits');
    for (const label of ['Name', 'Uses come back']) {
      await page.getByLabel(label, { exact: true }).scrollIntoViewIfNeeded();
      expect([label, await seen('Cancel'), await seen('Preview'), await seen('Add')]).toEqual([
        label,
        true,
        true,
        true,
      ]);
    }
    await page.getByLabel('Name', { exact: true }).scrollIntoViewIfNeeded();
    await button('Preview').click();
    const found = dialog().getByText('would have been above it');
    await found.waitFor();
    const [result, body] = await Promise.all([found.boundingBox(), page.locator('.dialog-body').boundingBox()]);
    expect(Math.floor(result!.y + result!.height)).toBeLessThanOrEqual(Math.ceil(body!.y + body!.height));
    expect(await seen('Add')).toBe(true);
    await button('Cancel').click();
  }
});

test('lists and their forms have no fault that axe finds, and fit 360 pixels', async () => {
  await makeFile('partners', '20.9.9.0/24\n<b>no network</b>\n');
  for (const width of [1280, 360]) {
    await console.comesAs({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
    const { page } = console;
    await console.open('/lists');
    await rowOf('Lists', 'partners').waitFor();
    expect(await faultsInBothThemes(page)).toEqual([]);
    await button('Add a list').click();
    expect(await faultsInBothThemes(page)).toEqual([]);
    await console.open('/lists/partners');
    await rowOf('Lines that were left out', '<b>no').waitFor();
    expect(await faultsInBothThemes(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
});

test('limits and their forms have no fault that axe finds, and fit 360 pixels', async () => {
  const limits = [{ name: 'shared', key: ['ip', 'path'], count: 5, windowSeconds: 90 }];
  await manage(console.stack(), '/protect/policies/set', { limits });
  for (const width of [1280, 360]) {
    await console.comesAs({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
    const { page } = console;
    await console.open('/limits');
    await button('Change shared').click();
    await page.getByLabel('user name at login').check();
    await dialog().getByText('Needed to count by the user name.').waitFor();
    expect(await faultsInBothThemes(page)).toEqual([]);
    await button('Cancel').click();
    expect(await faultsInBothThemes(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
});
