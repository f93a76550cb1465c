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
  // The block page loads this one script. Everything else of the gate stays closed.
  const script = async (name: string): Promise<number> =>
    (await browse(`${stack().edgeUrl}/__protect/${name}`, { headers: { ...nothingElse, ...curl } })).status;
  expect([await script('copy.js'), await script('protect.js'), await script('interstitial.js')]).toEqual([
    200, 403, 403,
  ]);
});

test('the bot’s-eye view shows what the gate answers to each client, with a reference that the log has', async () => {
  const view = async (client: string): Promise<string> =>
    (await fetch(`${stack().originUrl}/bots`, { method: 'POST', body: new URLSearchParams({ client }) })).text();
  expect(await view('browser')).toContain('200 allow');
  expect(await view('headless')).toContain('403 block');
  const flood = await view('flood');
  expect(flood).toContain('40 × 403 challenge');
  const reference = /-- why ([0-9a-f-]{36})/.exec(flood)![1];
  const found = () =>
    manage<{ verdicts: { request_path: string }[] }>(stack(), '/protect/verdicts', { requestId: reference });
  const { verdicts } = await eventually(found, (page) => page.verdicts.length > 0);
  expect(verdicts).toEqual([expect.objectContaining({ request_path: '/api/products' })]);
});
