/** Attack mode in the console, over the real service. */
import { expect, test } from 'vitest';
import { faultsInBothThemes } from '../support/axe.ts';
import { browse } from '../support/browse.ts';
import { sessionByLink, signInLink, useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole();
const button = (name: string) => console.page.getByRole('button', { name, exact: true });

interface AttackMode {
  active: boolean;
  since: number | null;
  until: number | null;
  trigger: string;
  minimumRate: number;
}
const attackMode = () => manage<AttackMode>(console.stack(), '/protect/attack-mode');
const set = (change: object) => manage<AttackMode>(console.stack(), '/protect/attack-mode/set', change);
const openInstance = () => console.open(`/instances/${console.stack().instanceId}`);

test('attack mode is switched on with an end, given another one, and switched off, with the keyboard', async () => {
  const { page } = console;
  await openInstance();
  await page.getByRole('heading', { name: 'Attack mode is off' }).waitFor();
  await button('Switch on…').press('Enter');
  const minutes = page.getByLabel('Minutes until it ends');
  expect(await minutes.inputValue()).toBe('60');
  await minutes.fill('30');
  await minutes.press('Enter');
  await page.getByRole('heading', { name: 'Attack mode is on' }).waitFor();
  const on = await attackMode();
  expect(on.until! - on.since!).toBe(30 * 60_000);

  await button('Give it another end…').press('Enter');
  await minutes.fill('90');
  await minutes.press('Enter');
  await eventually(attackMode, ({ until }) => until! > on.until!);

  await button('Switch off…').press('Enter');
  await button('Switch off').press('Enter');
  await page.getByRole('heading', { name: 'Attack mode is off' }).waitFor();
  expect((await attackMode()).active).toBe(false);
});

test('an end that the service refuses stays in the dialog with the reason', async () => {
  const { page } = console;
  console.expectMessage(/status of 400/);
  await openInstance();
  await button('Switch on…').click();
  await page.getByLabel('Minutes until it ends').fill('2');
  await button('Switch on').click();
  await page.getByRole('alert').getByText('minutes').waitFor();
  expect((await attackMode()).active).toBe(false);
});

test('the overview and the health view say that attack mode is on, and on a usual day the overview says that it is off', async () => {
  const { page } = console;
  // An account without traffic has the installation guide in place of the overview.
  await browse(`${console.stack().edgeUrl}/`);
  await eventually(
    () => manage<{ total: number }>(console.stack(), '/protect/verdicts', {}),
    ({ total }) => total > 0,
  );
  await set({ on: true });
  for (const path of ['', '/health']) {
    await console.open(path);
    await page.getByText('Attack mode is on', { exact: true }).waitFor();
    await page.getByRole('link', { name: /^Attack mode of / }).waitFor();
  }
  await page.getByRole('link', { name: /^Attack mode of / }).click();
  await page.getByRole('heading', { name: 'Attack mode is on' }).waitFor();
  await set({ on: false });
  await console.open('');
  await page.getByRole('figure', { name: 'Requests by decision over time' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.getByText('Attack mode is on').count()).toBe(0);
  await page.getByText('Attack mode is off.', { exact: true }).waitFor();

  await button('Switch on…').click();
  await page.getByText('Switched by hand, it sends no alert.').waitFor();
  await page.getByLabel('Minutes until it ends').fill('30');
  await button('Switch on').click();
  await page.getByText('Attack mode is on', { exact: true }).waitFor();
  expect((await attackMode()).active).toBe(true);
  expect(await faultsInBothThemes(page)).toEqual([]);
  await button('Switch off…').click();
  await button('Switch off').click();
  await page.getByText('Attack mode is off.', { exact: true }).waitFor();
  expect((await attackMode()).active).toBe(false);
});

test('what an attack does is saved alone, and of two people who change it, the second is told', async () => {
  const { page } = console;
  await set({ trigger: 'enforce', minimumRate: 100 });
  await openInstance();
  const rate = page.getByLabel('Requests a second below which nothing is an attack');
  await rate.fill('30');
  await set({ trigger: 'alert' });
  await button('Save what an attack does').click();
  await page.getByText('Saved.', { exact: true }).waitFor();
  expect(await attackMode()).toMatchObject({ trigger: 'alert', minimumRate: 30 });

  await rate.fill('40');
  await set({ minimumRate: 50 });
  await button('Save what an attack does').click();
  await page.getByText('Somebody else has changed minimumRate meanwhile.').waitFor();
  expect((await attackMode()).minimumRate).toBe(50);
  await button('Save what an attack does').click();
  await eventually(attackMode, ({ minimumRate }) => minimumRate === 40);
});

test('people who may only read see attack mode without its switch', async () => {
  const viewer = { email: 'viewer-of-attack@example.com', name: 'Vi', role: 'viewer' };
  await manage(console.stack(), '/users/create', viewer);
  const cookie = await sessionByLink(console.stack(), await signInLink(console.stack(), viewer.email));
  await console.comesAs({}, cookie);
  await openInstance();
  await console.page.getByRole('heading', { name: 'Attack mode is off' }).waitFor();
  expect(await button('Switch on…').count()).toBe(0);
  await console.open('');
  await console.page.getByText('Attack mode is off.', { exact: true }).waitFor();
  expect(await button('Switch on…').count()).toBe(0);
  await openInstance();
  expect(await console.page.getByLabel('When an attack is noticed').isDisabled()).toBe(true);
});

test('the switch has no fault that axe finds, in both themes and on a phone', async () => {
  await set({ on: true });
  for (const width of [1280, 360]) {
    await console.comesAs({ viewport: { width, height: 900 }, reducedMotion: 'reduce' });
    await openInstance();
    await console.page.getByRole('heading', { name: 'Attack mode is on' }).waitFor();
    await button('Give it another end…').click();
    expect(await faultsInBothThemes(console.page)).toEqual([]);
    expect(await console.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
  await set({ on: false });
});
