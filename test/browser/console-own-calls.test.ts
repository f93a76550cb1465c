/** The gate's own calls in the console: out of every number and list, until the switch shows them. */
import { expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { useConsole } from '../support/console.ts';
import { blockedVisit } from '../support/console-visits.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole();
const api = <Answer>(path: string, body: object = {}): Promise<Answer> => manage<Answer>(console.stack(), path, body);

test('the gate’s own calls are in no number and no list until the switch shows them, and a link keeps it', async () => {
  const { page } = console;
  await blockedVisit(console.stack());
  const logged = { requestPath: '/__protect/nothing', limit: 1 };
  await browse(`${console.stack().edgeUrl}/__protect/nothing`, { headers: { 'user-agent': 'probe/1.0' } });
  await eventually(
    () => api<{ total: number }>('/protect/verdicts', logged),
    ({ total }) => total > 0,
  );
  const total = async (includeInternal: boolean): Promise<string> =>
    (await api<{ total: number }>('/protect/traffic-summary', { includeInternal })).total.toLocaleString('en');
  const figure = page.locator('.figure', { hasText: 'Requests' }).locator('b');
  const own = page.getByRole('checkbox', { name: 'Show the gate’s own calls' });
  const ofSource = page
    .getByRole('table', { name: /^Reasons/ })
    .getByRole('link', { name: 'the gate’s own addresses' });
  await console.open('');
  await page.getByRole('table', { name: /^Reasons/ }).waitFor();
  expect(await own.isChecked()).toBe(false);
  expect(await ofSource.count()).toBe(0);
  expect(await figure.textContent()).toBe(await total(false));
  await own.check();
  await page.waitForURL(/internal=shown/);
  await ofSource.waitFor();
  await eventually(
    async () => [await figure.textContent(), await total(true)],
    ([shown, counted]) => shown === counted,
  );
  await page
    .getByRole('table', { name: /^Paths/ })
    .getByRole('link')
    .first()
    .click();
  await page.waitForURL(/verdicts\?.*internal=shown/);
  await console.open('/verdicts?path=/__protect/*');
  await page.getByText('No verdict in this window').waitFor();
  await own.check();
  await page.getByRole('cell', { name: '/__protect/nothing' }).first().waitFor();
  await console.open('/tail');
  await page.getByRole('row').nth(1).waitFor();
  expect(await page.getByText('/__protect/').count()).toBe(0);
  await own.check();
  await page.getByRole('cell', { name: '/__protect/nothing' }).first().waitFor();
});
