/** The stack as `npm start` leaves it: every setting is the product's default, and the README says what a newcomer sees. */
import { expect, test } from 'vitest';
import { newInstanceSettings } from '../../src/contract/management/instance-settings.ts';
import { siteSettings } from '../../src/contract/management/site-settings.ts';
import { browse } from '../support/browse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack({ seedChanges: {} });
const curl = { 'user-agent': 'curl/8.14.1', accept: '*/*' };
/** What a browser sends and curl does not. */
const nothingElse = {
  'accept-language': null,
  'accept-encoding': null,
  'upgrade-insecure-requests': null,
  'sec-fetch-dest': null,
  'sec-fetch-mode': null,
  'sec-fetch-site': null,
  'sec-fetch-user': null,
};

test('the seeded instance and site have the defaults of new ones, but the demo enforces and has its paths', async () => {
  const [instance] = await manage<object[]>(stack(), '/protect/instances');
  const demo = { monitor: false, endpointRules: [{ pattern: '/api/**', pathType: 'json' }] };
  expect(instance).toMatchObject({ ...newInstanceSettings.parse({}), ...demo });
  const [site] = await manage<{ settings: object }[]>(stack(), '/sites/get');
  expect(site?.settings).toMatchObject(siteSettings.parse({ domains: ['localhost', '127.0.0.1'] }));
});

test('a browser gets the page, with the script that opens its session', async () => {
  const page = await browse(`${stack().edgeUrl}/`);
  expect([page.status, page.headers.get('x-protect-decision')]).toEqual([200, 'allow']);
  expect(await page.text()).toContain('/__protect/protect.js');
});

test('curl is challenged, and blocked by a rule that names it', async () => {
  const ask = () => browse(`${stack().edgeUrl}/`, { headers: { ...nothingElse, ...curl } });
  const first = await ask();
  expect([first.status, first.headers.get('x-protect-decision')]).toEqual([403, 'challenge']);
  await manage(stack(), '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: 'curl', verdict: 'block' }],
  });
  await eventually(ask, (response) => response.headers.get('x-protect-decision') === 'block');
});
