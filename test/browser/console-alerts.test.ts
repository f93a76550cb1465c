/** Alerts and their channels in the console, over the real service. No receiver can be reached from here. */
import { expect, test } from 'vitest';
import { faultsInBothThemes } from '../support/axe.ts';
import { sessionByLink, signInLink, useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole();
const button = (name: string) => console.page.getByRole('button', { name, exact: true });
const dialog = () => console.page.getByRole('dialog');
const rowOf = (table: string, text: string) =>
  console.page.getByRole('table', { name: table, exact: true }).getByRole('row').filter({ hasText: text });

interface Channel {
  id: string;
  name: string;
  shape: string;
  host: string;
  kinds: string[];
  quietHours: object | null;
  enabled: boolean;
  formerSecretUntil: number | null;
}
const channels = async () => (await manage<{ channels: Channel[] }>(console.stack(), '/alerts/channels')).channels;
const channelNamed = async (name: string) => (await channels()).find((one) => one.name === name);

/** A channel to a host that does not exist. */
async function makeChannel(name: string): Promise<Channel> {
  const fields = { name, shape: 'webhook', webhookUrl: 'https://hooks.invalid/secret-path' };
  return (await manage<{ channel: Channel }>(console.stack(), '/alerts/channels/create', fields)).channel;
}
const remove = ({ id }: Channel) => manage(console.stack(), '/alerts/channels/delete', { channelId: id });

test('a channel is added with its secret shown once, changed, rotated and removed, with the keyboard', async () => {
  const { page } = console;
  await console.open('/alerts/channels');
  await page.getByRole('heading', { name: 'No channel yet' }).waitFor();
  await button('Add a channel').press('Enter');
  // The local stack calls servers of its own machine.
  await dialog().getByText('or http on this machine').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('On call');
  await page.getByLabel('Address', { exact: true }).fill('https://hooks.invalid/secret-path');
  await dialog()
    .getByRole('group', { name: /^Kinds that are sent/ })
    .getByLabel('the origin fails')
    .press('Space');
  await page.getByLabel('Quiet hours', { exact: true }).press('Space');
  await page.getByLabel('Time zone').fill('Europe/Berlin');
  await page.getByLabel('Name', { exact: true }).press('Enter');
  const secret = dialog().locator('.secret');
  await secret.waitFor();
  const widthOf = async (of: typeof secret) => (await of.boundingBox())!.width;
  expect(await widthOf(button('Copy'))).toBeLessThan((await widthOf(secret)) / 2);
  const first = await secret.innerText();
  expect(first).toMatch(/^whsec_/);
  await button('Done').press('Enter');
  await rowOf('Channels', 'On call').getByText('the origin fails').waitFor();
  expect(await channelNamed('On call')).toMatchObject({
    host: 'hooks.invalid',
    kinds: ['origin-failing'],
    quietHours: { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin', except: [] },
  });
  await console.open('/alerts/channels');
  await rowOf('Channels', 'On call').waitFor();
  expect(await page.content()).not.toContain(first);
  expect(await page.content()).not.toContain('secret-path');

  await button('Change On call').press('Enter');
  await page.getByLabel('Quiet hours', { exact: true }).uncheck();
  await page.getByLabel('Name', { exact: true }).fill('Nights');
  await button('Save').press('Enter');
  await rowOf('Channels', 'Nights').waitFor();
  expect(await channelNamed('Nights')).toMatchObject({ host: 'hooks.invalid', quietHours: null });

  await button('Rotate the secret of Nights').press('Enter');
  await button('Rotate').press('Enter');
  await secret.waitFor();
  expect(await secret.innerText()).not.toBe(first);
  await button('Done').press('Enter');
  expect((await channelNamed('Nights'))?.formerSecretUntil).not.toBeNull();

  await button('Remove Nights').press('Enter');
  await button('Remove').press('Enter');
  await page.getByRole('heading', { name: 'No channel yet' }).waitFor();
  expect(await channels()).toEqual([]);
});

test('a test says that the receiver did not accept it, and is in the list of alerts with its delivery', async () => {
  const { page } = console;
  const channel = await makeChannel('Pager');
  await console.open('/alerts/channels');
  await button('Send a test to Pager').click();
  await page.getByText(/^Pager did not accept the test/).waitFor();
  await page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'What happened' }).click();
  await rowOf('Alerts, newest first', 'a test').getByText('Pager').first().waitFor();
  expect(await rowOf('Alerts, newest first', 'a test').innerText()).not.toContain(channel.id);
  await page.getByLabel('Kind').selectOption('attack');
  await page.waitForURL(/kind=attack/);
  await page.getByRole('heading', { name: 'No alert matches' }).waitFor();
  await page.getByLabel('Kind').selectOption('test');
  await rowOf('Alerts, newest first', 'Pager').first().waitFor();
  await page.getByLabel('Only about this instance').check();
  await page.getByRole('heading', { name: 'No alert matches' }).waitFor();
  await remove(channel);
});

test('a channel that the service refuses stays in the form with the reason', async () => {
  const { page } = console;
  console.expectMessage(/status of 400/);
  await console.open('/alerts/channels');
  await button('Add a channel').click();
  await page.getByLabel('Name', { exact: true }).fill('Inside');
  await page.getByLabel('Address', { exact: true }).fill('http://10.0.0.1/hook');
  await button('Add').click();
  await page.getByRole('alert').getByText('must be an https address with a public host name').waitFor();
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Inside');
  expect(await channels()).toEqual([]);
});

test('of two people who change one channel, the second is told, and another field stays', async () => {
  const { page } = console;
  const channel = await makeChannel('Shared');
  await console.open('/alerts/channels');
  await button('Change Shared').click();
  await page.getByLabel('Name', { exact: true }).fill('Mine');
  await manage(console.stack(), '/alerts/channels/update', {
    channelId: channel.id,
    name: 'Theirs',
    kinds: ['attack'],
  });
  await button('Save').click();
  await page.getByText('Somebody else has changed name meanwhile.').waitFor();
  expect(await channelNamed('Theirs')).toBeDefined();
  await button('Save').click();
  await rowOf('Channels', 'Mine').waitFor();
  expect(await channelNamed('Mine')).toMatchObject({ kinds: ['attack'] });
  await remove(channel);
});

test('people who may only read see channels without buttons that change them', async () => {
  const viewer = { email: 'viewer-of-alerts@example.com', name: 'Vi', role: 'viewer' };
  await manage(console.stack(), '/users/create', viewer);
  const cookie = await sessionByLink(console.stack(), await signInLink(console.stack(), viewer.email));
  const channel = await makeChannel('Seen');
  await console.comesAs({}, cookie);
  await console.open('/alerts/channels');
  await rowOf('Channels', 'Seen').waitFor();
  expect(await console.page.getByRole('button', { name: /Seen|Add a channel/ }).count()).toBe(0);
  await remove(channel);
});

test('alerts, channels and their form have no fault that axe finds, and fit 360 pixels', async () => {
  const name = '<img src=x onerror=alert(1)> channel';
  const channel = await makeChannel(name);
  await manage(console.stack(), '/alerts/channels/test', { channelId: channel.id });
  const { alerts } = await eventually(
    () => manage<{ alerts: object[] }>(console.stack(), '/alerts/list'),
    (found) => found.alerts.length > 0,
  );
  expect(JSON.stringify(alerts)).toContain('onerror');
  for (const width of [1280, 360]) {
    await console.comesAs({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
    const { page } = console;
    await console.open('/alerts');
    await rowOf('Alerts, newest first', name).first().waitFor();
    expect(await faultsInBothThemes(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await console.open('/alerts/channels');
    await rowOf('Channels', name).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    await button('Add a channel').click();
    await page.getByLabel('Quiet hours', { exact: true }).check();
    expect(await faultsInBothThemes(page)).toEqual([]);
  }
  await remove(channel);
});
