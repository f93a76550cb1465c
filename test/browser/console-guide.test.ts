/** The way into the console: the installation guide, the health of an instance, and access control rules. */
import { expect, test } from 'vitest';
import { runInStack } from '../../src/cli/control.ts';
import { StateDir } from '../../src/cli/state.ts';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { browse } from '../support/browse.ts';
import { sessionByLink, useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole();
const button = (name: string | RegExp) => console.page.getByRole('button', { name, exact: typeof name === 'string' });
const step = (title: string) => console.page.getByRole('listitem').filter({ hasText: title });
const done = (title: string) => step(title).getByText('✓ done').waitFor();

async function command<Output>(...words: string[]): Promise<Output> {
  const control = new StateDir(console.stack().stateDir).control();
  if (control === null) throw new Error('The stack does not run');
  return JSON.parse((await runInStack(control, words)).output) as Output;
}

/** The account's metric, summed over its labels. */
async function metric(name: string): Promise<number> {
  const { serviceUrl, apiKey } = console.stack();
  const response = await fetch(`${serviceUrl}/protect/metrics`, { headers: { authorization: `Bearer ${apiKey}` } });
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith(`gatehouse_${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

test('an account without traffic sees the guide, whose steps end by themselves', async () => {
  const { page } = console;
  const stack = console.stack();
  await console.open('');
  await page.getByText('No request of a visitor has arrived yet.').waitFor();
  await done('1. Create a site');
  await done('2. Create an instance');
  await done('3. Issue a client JWT');
  // The edge of the stack polls, though nobody has visited the site.
  await done('4. Put the edge in front of the site');
  await step('4. Put the edge in front of the site').getByText('No visitor has come through it yet.').waitFor();
  await page.getByText('5 of 7 steps are done').waitFor();
  expect(await page.getByRole('region', { name: 'In the page' }).innerText()).toContain(stack.siteKey);

  await browse(`${stack.edgeUrl}/`);
  await step('4. Put the edge in front of the site').getByText('The newest request came at').waitFor();

  // The local stack has nothing to deploy, and its command reaches its edge from where the page is.
  expect(await page.getByRole('region', { name: 'Deploy the edge' }).count()).toBe(0);
  const check = await page.getByRole('region', { name: 'Check it' }).innerText();
  const [, address = ''] = /^curl -si (http\S+) /.exec(check) ?? [];
  expect(new URL(address).port).toBe(new URL(stack.edgeUrl).port);
  expect((await browse(address)).headers.has('x-protect-decision')).toBe(true);

  const other = await console.context.newPage();
  await other.goto(`${stack.consoleUrl}/sites/${stack.siteKey}?tab=try`);
  await other.getByRole('checkbox', { name: 'I am human' }).click();
  await other.getByRole('button', { name: 'Verify as a backend' }).click();
  await other.getByText('"verified": true').waitFor();
  await other.goto(`${stack.edgeUrl}/widget/load`);
  await done('5. Show the widget in a form');
  await step('5. Show the widget in a form').getByText('first solved it on a page of the site').waitFor();
  // What was tried in the console is no backend.
  await page.getByText('6 of 7 steps are done').waitFor();
  expect(await step('6. Verify its token').getByText('✓ done').count()).toBe(0);
  const token = await other.locator('input[name=captcha-response]').first().inputValue();
  const [{ secretKey = '' } = {}] = await manage<{ secretKey?: string }[]>(stack, '/sites/get');
  const answer = await fetch(`${stack.serviceUrl}/siteverify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret: secretKey, token }),
  });
  expect(await answer.json()).toMatchObject({ verified: true });
  await done('6. Verify its token in your backend');
  await page.getByText('7 of 7 steps are done').waitFor();

  await console.open('');
  await page.getByRole('heading', { name: 'Requests by decision' }).waitFor();
});

test('a new account goes from a site to enforcement with its own keys in every command', async () => {
  const email = 'new-owner@example.com';
  await command('account', 'create', '--email', email, '--tier', 'professional');
  const { url } = await command<{ url: string }>('signin', '--email', email);
  await console.comesAs({}, await sessionByLink(console.stack(), url));
  const { page } = console;
  await console.open('');
  await page.getByText('0 of 7 steps are done').waitFor();

  await button('Create a site').click();
  await page.getByLabel('Name').fill('shop');
  await page.getByLabel('Domains').fill('www.shop.example');
  await button('Create').click();
  await done('1. Create a site');

  await button('Create an instance').click();
  await page.getByLabel('Name', { exact: true }).fill('Shop');
  await page.getByLabel('Host name').fill('www.shop.example');
  await button('Create').click();
  await done('2. Create an instance');

  await button('Issue a client JWT').click();
  await button('Issue').click();
  const issued = await page.getByRole('dialog').locator('code').innerText();
  await button('Done').click();
  await done('3. Issue a client JWT');
  const deployment = await page.getByRole('region', { name: 'Deploy the edge' }).innerText();
  expect(deployment).toContain(`CLIENT_JWT=${issued}\n`);
  expect(deployment).toContain(`--route 'www.shop.example/*'`);

  const secret = page.getByRole('region', { name: 'Settings of the backend' });
  expect(await secret.innerText()).not.toContain('secret_');
  await button('Show the secret').click();
  expect(await secret.innerText()).toMatch(/CAPTCHA_SECRET=secret_/);

  await button('Start to enforce…').click();
  await page.getByText('0 would have been challenged and 0 blocked').waitFor();
  await button('Enforce').click();
  await done('7. Start to enforce');
  await page.getByText('4 of 7 steps are done').waitFor();

  const poll = await fetch(`${console.stack().serviceUrl}/edge/v1/version`, {
    headers: { authorization: `Bearer ${issued}` },
  });
  expect(poll.status).toBe(200);
  await done('4. Put the edge in front of the site');
  await page.getByText('5 of 7 steps are done').waitFor();
});

test('a counter that rises needs somebody, in the overview too, until they say that they have seen it', async () => {
  const { page } = console;
  const stack = console.stack();
  await browse(`${stack.edgeUrl}/`);
  await console.open('/health');
  // What the start of the stack left behind, such as requests before the first rules.
  await button('I have seen them all').click();
  const before = await metric('unreadable_addresses');
  const headers = { ...signalsOf(stack, { from: '192.0.2.1' }), 'x-client-ip': 'nonsense' };
  await browse(`${stack.edgeUrl}/`, { headers });
  const total = await eventually(
    () => metric('unreadable_addresses'),
    (value) => value > before,
  );

  await console.open('');
  await page.getByRole('link', { name: /things? needs? you/ }).click();
  await page.getByRole('heading', { name: 'Health', exact: true }).waitFor();
  const row = page.getByRole('row').filter({ hasText: 'Visitors without a readable address' });
  await row.getByText('act', { exact: true }).waitFor();
  expect(await row.getByRole('cell').nth(2).innerText()).toMatch(/^1\b/);
  expect(await row.innerText()).toContain('the proxy in front sends something else than one address');
  // It is the first of all, above those that are fine.
  expect(await page.getByRole('table', { name: 'Signs of health' }).getByRole('row').nth(1).innerText()).toContain(
    'Visitors without a readable address',
  );

  await button('I have seen them all').click();
  await page.getByText(/counters are fine/).click();
  await row.getByText('fine', { exact: true }).waitFor();
  expect(await row.getByRole('cell').nth(2).innerText()).toBe(`0 of ${total} in all`);
  await console.open('');
  await page.getByRole('link', { name: 'Nothing needs you' }).waitFor();
});

test('each edge is shown with its last contact and its rules, and the response times as the API counts them', async () => {
  const { page } = console;
  const stack = console.stack();
  await browse(`${stack.edgeUrl}/`);
  const { version } = await manage<{ version: number }>(stack, '/protect/access-rules/create', {
    rules: [{ type: 'ip', value: '192.0.2.77', verdict: 'block' }],
  });
  await console.open('/health');
  const row = page.getByRole('table', { name: 'Edges' }).getByRole('row').nth(1);
  await row.getByText('in contact').waitFor();
  await row.getByText(`version ${version}, current`).waitFor();
  expect(await row.innerText()).toMatch(/\d+ seconds? ago|less than a second ago/);
  const { edges } = await manage<{ edges: { clientJwtId: string }[] }>(stack, '/protect/edges', {
    protectInstanceId: stack.instanceId,
  });
  expect(await row.innerText()).toContain(edges[0]!.clientJwtId);

  const chart = page.getByRole('figure', { name: /Response time of the origin over time/ });
  // Requests are counted behind their responses, so that another one may be counted between the two answers.
  await eventually(
    async () => {
      const { requests } = await manage<{ requests: number }>(stack, '/protect/origin-latency', { bucket: 900 });
      await console.open('/health');
      await page.waitForLoadState('networkidle');
      return requests > 0 ? page.getByRole('definition').getByText(String(requests), { exact: true }).count() : 0;
    },
    (shown) => shown > 0,
  );
  await chart.getByRole('img').focus();
  await page.keyboard.press('ArrowLeft');
  await chart.getByText(/p50 \d+ ms, p95 \d+ ms, p99 \d+ ms, of \d+ responses?/).waitFor();
});

test('each origin that the instance names is shown with who is sent there, and with what it did not answer', async () => {
  const { page } = console;
  const stack = console.stack();
  await manage(stack, '/protect/policies/set', {
    policies: [{ name: 'to-api', when: 'path startsWith "/named/"', then: { action: 'origin', origin: 'api' } }],
    origins: {
      api: { kind: 'binding', binding: 'ORIGIN_API' },
      shop: { kind: 'url', url: 'https://shop.example.com', hosts: ['www.example.com'] },
    },
  });
  await eventually(
    () => browse(`${stack.edgeUrl}/named/x`),
    ({ status }) => status === 502,
  );
  const total = await eventually(
    () => metric('named_origin_failures'),
    (value) => value > 0,
  );
  await console.open('/health');
  const row = (name: string) =>
    page.getByRole('table', { name: 'Origins by name' }).getByRole('row').filter({ hasText: name });
  await row('ORIGIN_API').getByText('act', { exact: true }).waitFor();
  expect(await row('ORIGIN_API').innerText()).toMatch(new RegExp(`policy to-api[^]*${total} new ones?`));
  expect(await row('https://shop.example.com').innerText()).toMatch(/no request yet[^]*www\.example\.com/);
  await button('I have seen them all').click();
  await row('ORIGIN_API').getByText('fine', { exact: true }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
});

test('an instance without a client JWT that works is named', async () => {
  const stack = console.stack();
  const site = await manage<{ siteKey: string }>(stack, '/sites/create', {
    name: 'second',
    settings: { domains: ['second.example'] },
  });
  await manage(stack, '/protect/instances/create', {
    name: 'Second',
    cname: 'second.example',
    globalSiteKey: site.siteKey,
  });
  await console.open(`/health?site=${site.siteKey}`);
  const row = console.page.getByRole('row').filter({ hasText: 'One works for more than two weeks.' });
  await row.getByText('none works').waitFor();
  await row.getByText('act', { exact: true }).waitFor();
});

test('access control rules are made, shown as text, deleted and brought back', async () => {
  const { page } = console;
  const stack = console.stack();
  await console.open('/access-control');
  await button('New rule').click();
  await page.getByLabel('What it does').selectOption('restrict');
  await page.getByLabel('Condition 1').selectOption('userAgent');
  const name = '<b onclick=alert(1)>\u202egnp.exe';
  await page.getByLabel('Value 1').fill(name);
  await button('Add a condition').click();
  await page.getByLabel('Value 2').fill('203.0.113.999');
  await page.getByLabel('Captcha', { exact: true }).selectOption('image');
  await page.getByLabel('Difficulty of the proof of work').fill('5');
  await button('Create').click();
  console.expectMessage(/status of 400/);
  await page.getByRole('alert').getByText('Value 2').waitFor();
  await page.getByLabel('Value 2').fill('203.0.113.9');
  await button('Create').click();

  const row = page.getByRole('row').filter({ hasText: '203.0.113.9' });
  await row.getByText('image, difficulty 5').waitFor();
  expect(await row.innerText()).toMatch(/Address: 203\.0\.113\.9\s+User agent, whole: /);
  expect(await row.innerText()).toContain('<b onclick=alert(1)>U+202Egnp.exe');
  const listed = () => manage<{ rules: object[]; ruleCount: number }>(stack, '/access-control/get');
  const [rule] = (await listed()).rules;
  expect(rule).toMatchObject({ type: 'restrict', captchaType: 'image', powDifficulty: 5 });

  await row.getByRole('button', { name: /^Delete/ }).click();
  await eventually(listed, ({ ruleCount }) => ruleCount === 0);
  await button('Undo').click();
  await eventually(listed, ({ ruleCount }) => ruleCount === 1);
  await row.waitFor();
  const [back] = (await listed()).rules;
  // Only the times are those of its return.
  expect({ ...back, createdAt: '', updatedAt: '' }).toEqual({ ...rule, createdAt: '', updatedAt: '' });
});

test('a group of access control rules is filtered, paged, and deleted with its progress', async () => {
  const { page } = console;
  const stack = console.stack();
  const before = (await manage<{ ruleCount: number }>(stack, '/access-control/get')).ruleCount;
  const ruleGroupId = 'scrapers';
  for (let at = 0; at < 105; at += 1) {
    const conditions = [{ field: 'ip', operator: 'equals', value: `198.51.100.${at}` }];
    await manage(stack, '/access-control/create', { rule: { type: 'block', conditions, ruleGroupId } });
  }
  await console.open('/access-control');
  await page.getByRole('link', { name: ruleGroupId }).click();
  await page.getByText('105 rules, page 1 of 2').waitFor();
  await page.getByRole('link', { name: 'Next' }).click();
  await page.getByText('105 rules, page 2 of 2').waitFor();
  expect(new URL(page.url()).search).toBe('?group=scrapers&page=2');
  await page.getByLabel('Order').selectOption('oldest');
  await page.getByText('105 rules, page 1 of 2').waitFor();
  await page.getByRole('row').nth(1).getByText('198.51.100.0').waitFor();

  await button(`Delete the group ${ruleGroupId}`).click();
  await button('Delete 105 rules').click();
  await page.getByRole('heading', { name: 'The group is deleted' }).waitFor();
  await page.getByText('105 rules deleted.').waitFor();
  expect((await manage<{ ruleCount: number }>(stack, '/access-control/get')).ruleCount).toBe(before);
});
