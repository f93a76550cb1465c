/** Instances, sites, users and keys in the console, over the real service. */
import { expect, test } from 'vitest';
import { faultsInBothThemes } from '../support/axe.ts';
import { loseCall, NETWORK_MESSAGE, sessionByLink, signInLink, useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole();
const button = (name: string | RegExp) => console.page.getByRole('button', { name, exact: typeof name === 'string' });
const dialog = () => console.page.getByRole('dialog');

interface Instance {
  id: string;
  name: string;
  monitor: boolean;
  challengeThreshold: number;
  hosts: string[];
  blockThreshold: number;
}
async function instance(): Promise<Instance> {
  const { instanceId } = console.stack();
  const list = await manage<Instance[]>(console.stack(), '/protect/instances');
  return list.find(({ id }) => id === instanceId)!;
}

test('a setting is saved alone, so that a change made elsewhere meanwhile stays', async () => {
  const { page } = console;
  const { instanceId } = console.stack();
  await console.open(`/instances/${instanceId}`);
  await page.getByLabel('Challenge from a risk score of').fill('0.6');
  await manage(console.stack(), '/protect/instances/update', { id: instanceId, hosts: ['shop.example'] });
  console.expectMessage(/status of 409/);
  await page.getByText('Changed: Challenge from a risk score of').waitFor();
  await button('Save').click();
  await page.getByText(/^Saved\./).waitFor();
  expect(await instance()).toMatchObject({ challengeThreshold: 0.6, hosts: ['shop.example'] });
  await manage(console.stack(), '/protect/instances/update', { id: instanceId, hosts: [] });
});

test('a saved setting is undone in its notice', async () => {
  const { page } = console;
  const { instanceId } = console.stack();
  const { challengeThreshold } = await instance();
  await console.open(`/instances/${instanceId}`);
  await page.getByLabel('Challenge from a risk score of').fill('0.7');
  await button('Save').click();
  await page.getByText(/^Saved\./).waitFor();
  expect(await instance()).toMatchObject({ challengeThreshold: 0.7 });
  await button('Undo').click();
  await page.getByText('Undone: the settings are as they were.').waitFor();
  expect(await instance()).toMatchObject({ challengeThreshold });
  expect(await page.getByLabel('Challenge from a risk score of').inputValue()).toBe(String(challengeThreshold));
});

test('of two people who change one setting, the second is told, and nothing is overwritten', async () => {
  const { page } = console;
  console.expectMessage(/status of 409/);
  const { instanceId } = console.stack();
  await console.open(`/instances/${instanceId}`);
  await page.getByLabel('Challenge from a risk score of').fill('0.61');
  await manage(console.stack(), '/protect/instances/update', { id: instanceId, challengeThreshold: 0.62 });
  await button('Save').click();
  await page.getByText('Somebody else has changed Challenge from a risk score of meanwhile.').waitFor();
  expect((await instance()).challengeThreshold).toBe(0.62);
  await button('Save').click();
  await page.getByText(/^Saved\./).waitFor();
  expect((await instance()).challengeThreshold).toBe(0.61);
});

test('a value that the service refuses is named at its field, and nothing is saved', async () => {
  const { page } = console;
  console.expectMessage(/status of 400/);
  await console.open(`/instances/${console.stack().instanceId}`);
  await page.getByLabel('Challenge from a risk score of').fill('7');
  await button('Save').click();
  await page.locator('.setting', { hasText: 'challengeThreshold' }).locator('.field-error').waitFor();
  await page.getByRole('alert').getByText('Challenge from a risk score of').waitFor();
  expect((await instance()).challengeThreshold).toBeLessThanOrEqual(1);
  await button('Discard').click();
  await page.getByText('No changes').waitFor();
});

test('settings are found by their words and changed by fields, with their unit, default and former value beside them', async () => {
  const { page } = console;
  const { instanceId, siteKey } = console.stack();
  await console.open(`/instances/${instanceId}`);
  const shown = page.locator('.setting:visible');
  const all = await shown.count();
  await page.getByLabel('Find a setting').fill('session lasts');
  expect([all, await shown.count()]).toEqual([27, 1]);
  expect(await shown.innerText()).toMatch(
    /A session lasts \(seconds\)[^]*300 to 31,536,000, default 86,400[^]*jtiExpirySeconds/,
  );
  await page.getByLabel('A session lasts').fill('abc');
  expect(await button('Save').isDisabled()).toBe(true);
  await page.getByLabel('A session lasts').fill('7200');
  await shown.getByText('Changed, was 86400').waitFor();
  await page.getByLabel('Find a setting').fill('');
  await button('Add to Decisions for paths').click();
  const row = page.getByRole('group', { name: 'Decisions for paths, 1' });
  await row.getByLabel('Paths').fill('/hooks/**');
  await row.getByLabel('Methods').fill('POST\nPUT');
  await row.getByLabel('Decision').selectOption('allow');
  await row.getByLabel('Needs no session').check();
  await page.getByText('Changed: Decisions for paths, A session lasts').waitFor();
  await button('Save').click();
  await page.getByText(/^Saved\./).waitFor();
  expect(await instance()).toMatchObject({
    jtiExpirySeconds: 7200,
    pathRules: [{ pattern: '/hooks/**', methods: ['POST', 'PUT'], action: 'allow', waiveSession: true }],
  });
  await manage(console.stack(), '/protect/instances/update', {
    id: instanceId,
    pathRules: [],
    jtiExpirySeconds: 86_400,
  });
  // Parts of parts, and an object in place of a number, have fields too.
  await console.open(`/sites/${siteKey}`);
  const group = page.locator('.setting', { hasText: 'frictionlessThreshold' });
  expect(await group.innerText()).toMatch(
    /default 0.5 for each[^]*0.5 where it is empty[^]*0 to 100, 1 where it is empty/,
  );
  await page.getByLabel('Image from a score of').fill('0.9');
  const tor = page.locator('details').filter({ has: page.getByText('Tor', { exact: true }) });
  await tor.getByText('Tor', { exact: true }).click();
  await tor.getByLabel('Action', { exact: true }).selectOption('block');
  await button('Save').click();
  await page.getByText(/^Saved\./).waitFor();
  const { settings } = await manage<{ settings: object }>(console.stack(), '/site/get', { siteKey });
  expect(settings).toMatchObject({
    frictionlessThreshold: { frictionlessImageThreshold: 0.9 },
    trafficFilter: { tor: { action: 'block' } },
  });
});

test('every setting has a field, and none is JSON', async () => {
  const { page } = console;
  const { instanceId, siteKey } = console.stack();
  for (const path of [`/instances/${instanceId}`, `/sites/${siteKey}`]) {
    await console.open(path);
    await page.locator('.setting').first().waitFor();
    const texts = await page
      .locator('.setting textarea, .setting input')
      .evaluateAll((fields) => fields.map((field) => (field as HTMLInputElement).value));
    expect(texts.filter((text) => /^[[{]/.test(text))).toEqual([]);
  }
});

test('enforcement is switched off and on again, each time after a question', async () => {
  await console.open(`/instances/${console.stack().instanceId}`);
  await button('Only monitor…').click();
  await dialog().getByRole('button', { name: 'Only monitor' }).click();
  await eventually(instance, ({ monitor }) => monitor);
  await button('Start to enforce…').click();
  await dialog().getByRole('button', { name: 'Enforce' }).click();
  await eventually(instance, ({ monitor }) => !monitor);
});

test('a client JWT is issued once and revoked', async () => {
  const { page } = console;
  await console.open(`/instances/${console.stack().instanceId}?tab=jwts`);
  await button('Issue a client JWT').click();
  await dialog().getByRole('button', { name: 'Issue' }).click();
  const jwt = await dialog().locator('.secret').innerText();
  expect(jwt.split('.')).toHaveLength(3);
  await button('Done').click();
  const active = page.getByRole('row').filter({ hasText: 'active' });
  await eventually(
    () => active.count(),
    (rows) => rows === 2,
  );
  await active.first().getByRole('button').click();
  await dialog().getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('The client JWT was revoked.').waitFor();
});

test('a site is created, its widget gives a token that verifies, and it is deactivated', async () => {
  const { page } = console;
  await console.open('/sites');
  await button('New site').click();
  await dialog().getByLabel('Name').fill('from-the-console');
  await dialog().getByLabel('Domains').fill('shop.example');
  await button('Create').click();
  await page.getByRole('heading', { name: 'from-the-console' }).waitFor();
  const { siteKey } = (await manage<{ name: string; siteKey: string }[]>(console.stack(), '/sites/get')).find(
    ({ name }) => name === 'from-the-console',
  )!;
  await manage(console.stack(), '/sites/update', { siteKey, settings: { captchaType: 'pow', powDifficulty: 1 } });
  await page.getByRole('link', { name: 'Try the widget' }).click();
  await page.getByRole('checkbox').click();
  await button('Verify as a backend').click();
  await page.getByText('"verified": true').waitFor();
  await page.getByRole('link', { name: 'Keys and code' }).click();
  await page.getByText(`data-sitekey="${siteKey}"`).waitFor();
  await page.getByRole('link', { name: 'Default, deactivate' }).click();
  await button('Deactivate from-the-console…').click();
  await dialog().getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('inactive', { exact: true }).waitFor();
});

test('a user is added with a role, and loses it', async () => {
  const { page } = console;
  await console.open('/users');
  await button('Add a user').click();
  await dialog().getByLabel('Email').fill('ana@example.com');
  await dialog().getByLabel('Name').fill('Ana');
  await dialog().getByRole('button', { name: 'Add' }).click();
  await page.getByText('ana@example.com was added.').waitFor();
  const cookie = await sessionByLink(console.stack(), await signInLink(console.stack(), 'ana@example.com'));
  await page.getByLabel('Role of ana@example.com').selectOption('admin');
  await page.getByText('ana@example.com is admin now.').waitFor();
  await button('Remove ana@example.com').click();
  await dialog().getByRole('button', { name: 'Remove' }).click();
  await page.getByText('ana@example.com was removed.').waitFor();
  const gone = await fetch(`${console.stack().serviceUrl}/console/auth/me`, {
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
  });
  expect(gone.status).toBe(401);
});

test('a user who is there already is refused in the dialog, which keeps what was typed', async () => {
  await console.open('/users');
  await button('Add a user').click();
  await dialog().getByLabel('Email').fill(console.stack().ownerEmail);
  await dialog().getByLabel('Name').fill('Bob');
  console.expectMessage(/status of 4\d\d/);
  await dialog().getByLabel('Name').press('Enter');
  await dialog().getByText('The account owner cannot be changed through the API').waitFor();
  expect(await dialog().getByLabel('Name').inputValue()).toBe('Bob');
});

test('an API key gets exactly the permissions that were chosen, and the change is in the audit trail', async () => {
  const { page } = console;
  await console.open('/api-keys');
  await button('New API key').click();
  await dialog().getByLabel('Name').fill('prometheus');
  await dialog().getByLabel('readProtect').check();
  await button('Create').click();
  const token = await dialog().locator('.secret').innerText();
  await button('Done').click();
  await page
    .getByRole('row')
    .filter({ hasText: 'prometheus' })
    .getByText('See traffic, rules and settings of the gate')
    .waitFor();
  const asKey = (path: string, method: string) =>
    fetch(console.stack().serviceUrl + path, { method, headers: { authorization: `Bearer ${token}` } });
  expect((await asKey('/protect/metrics', 'GET')).status).toBe(200);
  expect((await asKey('/sites/get', 'POST')).status).toBe(403);
  await console.open('/audit-trail');
  await page.getByRole('row').filter({ hasText: 'added the API key prometheus' }).first().waitFor();
});

test('the audit trail says who changed which thing from what to what, without JSON and ids', async () => {
  const { page } = console;
  for (const verdict of ['challenge', 'block']) {
    await manage(console.stack(), '/protect/access-rules/create', {
      rules: [{ type: 'ipMask', value: '192.0.2.0/24', verdict }],
    });
  }
  await console.open('/audit-trail');
  const row = page.getByRole('row').filter({ hasText: 'changed the rule 192.0.2.0/24 from challenge to block' });
  expect(await row.innerText()).toContain('Verdict: challenge → block');
  const text = await page.getByRole('table').innerText();
  expect(text).not.toMatch(/[{}[\]]|create-|siteKey|key_/);
});

test('a key for reading is chosen at once, and a permission that is as powerful as all says so', async () => {
  const { page } = console;
  await console.open('/api-keys');
  await button('New API key').click();
  await dialog().getByLabel('Name').fill('reports');
  const powerful = dialog().getByLabel('See API keys (getApiKeys)');
  expect(await page.locator(`#${await powerful.getAttribute('aria-describedby')}`).innerText()).toContain(
    'as powerful as all keys together',
  );
  const isChecked = (name: string) => dialog().getByLabel(name).isChecked();
  await button('Everything').click();
  expect([await isChecked('readSites'), await powerful.isChecked()]).toEqual([true, true]);
  await button('Protect only').click();
  expect([await isChecked('updateProtectSettings'), await isChecked('readSites')]).toEqual([true, false]);
  await button('Read only').click();
  expect([await isChecked('readSites'), await powerful.isChecked()]).toEqual([true, false]);
  await button('Create').click();
  const token = await dialog().locator('.secret').innerText();
  await button('Done').click();
  const sites = await fetch(`${console.stack().serviceUrl}/sites/get`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  expect(sites.status).toBe(200);
  expect(await sites.text()).not.toContain('secretKey');
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('reports').getByText('Read only').waitFor();
  await row('local-stack').getByText('Everything').waitFor();
  expect(await row('reports').getByText('as powerful as all').count()).toBe(0);
  expect(await page.getByText('as powerful as all').count()).toBeGreaterThan(0);
});

test.each([
  ['request', '0.7'],
  ['answer', '0.71'],
] as const)(
  'settings are saved by a second try when the network loses the %s, and what was typed stays until then',
  async (lost, value) => {
    const { page } = console;
    console.expectMessage(NETWORK_MESSAGE);
    console.expectMessage(/status of 409/);
    await console.open(`/instances/${console.stack().instanceId}`);
    const field = page.getByLabel('Challenge from a risk score of');
    await field.fill(value);
    await loseCall(console.context, '/protect/instances/update', lost);
    await button('Save').click();
    await page.getByText('The service cannot be reached.').waitFor();
    expect(await field.inputValue()).toBe(value);
    expect((await instance()).challengeThreshold === Number(value)).toBe(lost === 'answer');
    // Offline, nothing arrives, and nothing typed is lost.
    await console.context.setOffline(true);
    await button('Save').click();
    await page.getByText('The service cannot be reached.').waitFor();
    await console.context.setOffline(false);
    await button('Save').click();
    await page.getByText(/^Saved\./).waitFor();
    expect((await instance()).challengeThreshold).toBe(Number(value));
    await page.getByText('No changes').waitFor();
  },
);

test('no part of an instance or a site has a fault that axe finds, in both themes', async () => {
  const { instanceId, siteKey } = console.stack();
  const paths = [
    `/instances/${instanceId}?tab=jwts`,
    `/instances/${instanceId}?tab=origin-keys`,
    `/instances/${instanceId}?tab=delete`,
    `/sites/${siteKey}?tab=keys`,
    `/sites/${siteKey}?tab=try`,
    `/sites/${siteKey}?tab=state`,
  ];
  await console.comesAs({ reducedMotion: 'reduce' });
  for (const path of paths) {
    await console.open(path);
    await console.page.waitForLoadState('networkidle');
    expect.soft(await faultsInBothThemes(console.page), path).toEqual([]);
  }
});
