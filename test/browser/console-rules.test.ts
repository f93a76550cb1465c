/** Rules in the console: added with a preview, enforced at the edge, undone, imported in bulk, and taken back. */
import { expect, test } from 'vitest';
import { faultsInBothThemes } from '../support/axe.ts';
import { loseCall, NETWORK_MESSAGE, sessionByLink, signInLink, useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole();

const statusOf = async (userAgent: string): Promise<number> =>
  (await fetch(`${console.stack().edgeUrl}/`, { headers: { 'user-agent': userAgent } })).status;

const button = (name: string | RegExp) => console.page.getByRole('button', { name, exact: typeof name === 'string' });

/** Values of the instance's rules. */
async function ruleValues(): Promise<string[]> {
  const { rules } = await manage<{ rules: { value: string }[] }>(console.stack(), '/protect/access-rules');
  return rules.map(({ value }) => value);
}

test('a rule that is added blocks at the edge, and its undo lets pass again', async () => {
  const { page } = console;
  const name = 'undone-bot';
  await console.open('/rules');
  await button('Add rules').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Matches').selectOption('userAgent');
  await dialog.getByLabel(/one per line/).fill(name);
  await button('Preview').click();
  await dialog.getByText(/of the last 24 hours’/).waitFor();
  await button('Add the rule').click();
  await page.getByText('1 added, 0 changed.').waitFor();
  await eventually(
    () => statusOf(name),
    (status) => status === 403,
  );
  await button('Undo').click();
  await eventually(
    () => statusOf(name),
    (status) => status === 200,
  );
  expect(await ruleValues()).not.toContain(name);
});

test('pasted lines become rules of the types that they have, and a wrong one is named and loses nothing', async () => {
  const { page } = console;
  console.expectMessage(/status of 400/);
  await console.open('/rules');
  await button('Add rules').click();
  const dialog = page.getByRole('dialog');
  const values = dialog.getByLabel(/one per line/);
  const ja4 = 't13d1516h2_8daaf6152771_02713d6af862';
  const good = `# from a ticket\n192.0.2.71\n192.0.2.128/25 # office\n\nAS64511\nse\n${ja4}\npasted-bot/1.0 (+x)`;
  await values.fill(`${good}\nbadbot`);
  await dialog.getByText('line 9: is no address, network, AS number, country or JA4 fingerprint').waitFor();
  expect(await button('Add').isDisabled()).toBe(true);
  // What has a good shape and is none is refused by the service, at its line.
  await values.fill(`${good}\n192.0.2.300`);
  await button('Add 7 rules').click();
  await dialog.locator('.field-error', { hasText: 'line 9: is not a complete IPv4 or IPv6 address' }).waitFor();
  expect(await values.inputValue()).toBe(`${good}\n192.0.2.300`);
  await values.fill(good);
  await dialog.getByText('1 address, 1 network, 1 AS number, 1 country, 1 user agent, 1 JA4 fingerprint.').waitFor();
  await button('Preview').click();
  await dialog.getByText(/of the last 24 hours’/).waitFor();
  await button('Add 6 rules').click();
  await page.getByText('6 added, 0 changed.').waitFor();
  const { rules } = await manage<{ rules: { type: string; value: string }[] }>(
    console.stack(),
    '/protect/access-rules',
  );
  const added = rules.map(({ type, value }) => `${type}:${value}`);
  expect(added).toEqual(
    expect.arrayContaining([
      'ip:192.0.2.71',
      'ipMask:192.0.2.128/25',
      'asn:64511',
      'countryCode:SE',
      `ja4Hash:${ja4}`,
      'userAgent:pasted-bot/1.0 (+x)',
    ]),
  );
  await button('Undo').click();
  await eventually(ruleValues, (left) => !left.includes('SE') && !left.includes(ja4));
});

test('a rule that is deleted comes back whole by its undo', async () => {
  const { page } = console;
  const rule = { type: 'asn', value: '64500', verdict: 'block', mode: 'monitor', rollout: 20, note: 'kept' };
  await manage(console.stack(), '/protect/access-rules/create', { rules: [rule] });
  await console.open('/rules');
  await button('Delete asn:64500').click();
  await eventually(ruleValues, (values) => !values.includes('64500'));
  await button('Undo').click();
  await eventually(ruleValues, (values) => values.includes('64500'));
  const { rules } = await manage<{ rules: object[] }>(console.stack(), '/protect/access-rules', { type: 'asn' });
  expect(rules).toMatchObject([rule]);
  await page.getByRole('cell', { name: '64500', exact: true }).waitFor();
});

test('a rule that somebody else has changed meanwhile is not deleted over them', async () => {
  const { page } = console;
  const rule = { type: 'asn', value: '64502', verdict: 'block' };
  await manage(console.stack(), '/protect/access-rules/create', { rules: [rule] });
  await console.open('/rules?type=asn');
  await button('Delete asn:64502').waitFor();
  await manage(console.stack(), '/protect/access-rules/create', { rules: [{ ...rule, verdict: 'challenge' }] });
  await button('Delete asn:64502').click();
  await page.getByText('Somebody else has changed this rule meanwhile.').waitFor();
  expect(await ruleValues()).toContain('64502');
});

test('on a phone, the form that tries a visitor is in view', async () => {
  await console.comesAs({ viewport: { width: 390, height: 844 } });
  await console.open('/rules/explain');
  await console.page.getByLabel('Address', { exact: true }).waitFor();
  expect(await button('Filters').count()).toBe(0);
});

test('a visitor can be tried, and the rule that decides is named', async () => {
  const { page } = console;
  await manage(console.stack(), '/protect/access-rules/create', {
    rules: [{ type: 'ipMask', value: '203.0.113.0/24', verdict: 'block' }],
  });
  await console.open('/rules/explain');
  await page.getByRole('textbox', { name: 'Address', exact: true }).fill('203.0.113.9');
  await button('Explain').click();
  await page.getByText('Blocked by rule ipMask:203.0.113.0/24', { exact: false }).waitFor();
});

test('a visitor who uses the name of a bot is tried as that bot', async () => {
  const { page } = console;
  const [userAgent, ip] = ['GPTBot/1.2', '192.0.2.1'];
  await eventually(
    () => manage<{ bot: object | null }>(console.stack(), '/protect/access-rules/explain', { userAgent, ip }),
    ({ bot }) => bot !== null,
  );
  await console.open(`/rules/explain?userAgent=${encodeURIComponent(userAgent)}&ip=${ip}`);
  await page.getByText('Blocked by bot that is not gptbot', { exact: false }).waitFor();
  await page.getByText('Taken for the bot gptbot, proof: impostor.', { exact: false }).waitFor();
});

test('the fields of a filter follow the address when somebody goes back', async () => {
  const { page } = console;
  await console.open('/rules/explain?ip=192.0.2.1');
  const field = page.getByRole('textbox', { name: 'Address', exact: true });
  await field.fill('192.0.2.2');
  await button('Explain').click();
  await page.waitForURL(/ip=192\.0\.2\.2/);
  await page.goBack();
  await eventually(
    () => field.inputValue(),
    (value) => value === '192.0.2.1',
  );
});

test('the history of rules leads to older versions and back to the newest', async () => {
  const { page } = console;
  await console.open('/rules/history?before=2');
  await page.getByRole('link', { name: 'Newest' }).click();
  await page.waitForURL(/\/rules\/history$/);
});

test('the history of rules ends before the first change, and leads back there', async () => {
  const { page } = console;
  const rules = [{ type: 'countryCode', value: 'SE', verdict: 'challenge' }];
  await manage(console.stack(), '/protect/access-rules/create', { rules });
  const before = await ruleValues();
  await console.open('/rules/history');
  await button('Go back to version 0').click();
  expect(await page.getByRole('link', { name: 'Older' }).count()).toBe(0);
  await page.getByRole('dialog').getByRole('button', { name: 'Go back' }).click();
  await eventually(ruleValues, (values) => values.length === 0);
  await button('Undo').click();
  await eventually(ruleValues, (values) => values.length === before.length);
});

test.each(['constructor', '__proto__', 'toString'])('a type of rule that is called %s is none', async (type) => {
  console.expectMessage(/400/);
  await console.open(`/rules/of/${type}?value=x`);
  await console.page.getByRole('alert').waitFor();
  await console.page.getByText(`${type}: x`).waitFor();
});

test('notes and values of rules are text, whatever they hold', async () => {
  const { page } = console;
  const note = '<img src=x onerror=alert(1)> \u202egnp.exe\u0007';
  const rules = [{ type: 'userAgent', value: '<script>alert(1)</script>', verdict: 'allow', mode: 'monitor', note }];
  await manage(console.stack(), '/protect/access-rules/create', { rules });
  await console.open('/rules?type=userAgent');
  await page.getByText('<script>alert(1)</script>').waitFor();
  expect(await page.locator('main img, main script').count()).toBe(0);
  expect(await page.getByText('U+202E').count()).toBe(1);
});

/** So many addresses, one per line. */
const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, at) => `198.${18 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}`);
const chooseFile = (lines: readonly string[]): Promise<void> =>
  console.page
    .getByLabel('Choose a file')
    .setInputFiles({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from(`${lines.join('\n')}\n`) });

test('the preview of a list says what it would change, and changes nothing', async () => {
  const { page } = console;
  const before = await ruleValues();
  await console.open('/rules/import');
  await chooseFile([...addresses(300), 'not an address']);
  await button('Preview').click();
  await page.getByText('300 rules would be added, 0 changed, 0 stay as they are, 1 line is no rule.').waitFor();
  expect((await ruleValues()).toSorted()).toEqual(before.toSorted());
});

test('a list of 200,000 is previewed in pieces, with the requests and addresses that the whole of it would change', async () => {
  const { page } = console;
  const stack = console.stack();
  // Of the first visitor, one rule is in the first piece of the file and one in the last.
  const visitors = ['198.18.0.7', '198.21.13.63', '203.0.113.77'];
  for (const ip of visitors) {
    for (let request = 0; request < 2; request += 1) {
      await fetch(`${stack.edgeUrl}/previewed`, {
        headers: { 'user-agent': 'previewed', 'x-signals-secret': stack.signalsSecret, 'x-client-ip': ip },
      });
    }
  }
  await eventually(
    () => manage<{ total: number }>(stack, '/protect/verdicts', { requestPath: '/previewed' }),
    ({ total }) => total === 6,
  );
  const lines = [...addresses(200_000), '198.18.0.0/24', 'not an address'];
  await console.open('/rules/import');
  await chooseFile(lines);
  await button('Preview').click();
  await page.getByText(/^(50|100|150),000 of 200,002 lines looked at/).waitFor();
  await page.getByText('200,001 rules would be added, 0 changed, 0 stay as they are, 1 line is no rule.').waitFor();
  const result = page.getByText(/requests would have been decided otherwise/);
  expect(await result.innerText()).toMatch(/^4 of .* from 2 addresses/);
  const effects = page.getByRole('table', { name: 'Rules that would have met most requests' });
  expect(await effects.getByRole('row').allInnerTexts()).toEqual([
    expect.stringContaining('Rule'),
    expect.stringMatching(/^ip:198\.18\.0\.7\s+2\s+1\s+allow → block: 2/),
    expect.stringMatching(/^ip:198\.21\.13\.63\s+2\s+1\s+allow → block: 2/),
    expect.stringMatching(/^ipMask:198\.18\.0\.0\/24\s+2\s+1\s+allow → block: 2/),
  ]);
});

test('a list of 200,000 with three bad lines is imported, they are named, and the import is taken back', async () => {
  const { page } = console;
  const before = await ruleValues();
  const lines = addresses(200_000);
  lines.splice(7, 0, 'not an address');
  lines.splice(20_000, 0, '999.1.1.1');
  lines.push('=cmd()');
  await console.open('/rules/import');
  await chooseFile(lines);
  await button('Import').click();
  await page.getByRole('heading', { name: 'Imported' }).waitFor();
  await page.getByText('200,000 added, 0 changed, 0 as before, 3 refused.').waitFor();
  const refused = page.getByRole('region', { name: 'Refused lines' });
  expect(await refused.getByRole('row').allInnerTexts()).toEqual([
    expect.stringContaining('Line'),
    expect.stringMatching(/^8\s.*not an address/s),
    expect.stringMatching(/^20,001\s.*999\.1\.1\.1/s),
    expect.stringMatching(/^200,003\s.*=cmd\(\)/s),
  ]);
  await button(/^Undo: back to version/).click();
  await page.getByText('The rules are as they were before the import.').waitFor();
  expect((await ruleValues()).toSorted()).toEqual(before.toSorted());
});

test('an import that is stopped keeps whole pieces, and can be taken back', async () => {
  const { page } = console;
  const before = await ruleValues();
  await console.open('/rules/import');
  await chooseFile(addresses(200_000));
  await button('Import').click();
  await page.getByText(/^[1-9][0-9,]* of 200,000 lines/).waitFor();
  await button('Stop').click();
  await page.getByRole('heading', { name: 'Stopped' }).waitFor();
  expect(((await ruleValues()).length - before.length) % 10_000).toBe(0);
  await button(/^Undo: back to version/).click();
  await page.getByText('The rules are as they were before the import.').waitFor();
  expect((await ruleValues()).toSorted()).toEqual(before.toSorted());
});

/** Rules that match this user agent. */
const rulesFor = async (value: string): Promise<number> => (await ruleValues()).filter((one) => one === value).length;

test.each(['request', 'answer'] as const)(
  'a rule is added once, however often it is tried, when the network loses the %s',
  async (lost) => {
    const { page } = console;
    console.expectMessage(NETWORK_MESSAGE);
    const name = `lost-${lost}-bot`;
    await console.open('/rules');
    await loseCall(console.context, '/protect/access-rules/create', lost);
    await button('Add rules').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Matches').selectOption('userAgent');
    await dialog.getByLabel(/one per line/).fill(name);
    await button('Add the rule').click();
    await dialog.getByText('look whether it was done before you try again').waitFor();
    expect(await rulesFor(name)).toBe(lost === 'answer' ? 1 : 0);
    expect(await dialog.getByLabel(/one per line/).inputValue()).toBe(name);
    await button('Add the rule').click();
    await page
      .getByText(lost === 'answer' ? '0 added, 0 changed. 1 were there already.' : '1 added, 0 changed.')
      .waitFor();
    expect(await rulesFor(name)).toBe(1);
    // Nobody undoes what was there before.
    expect(await button('Undo').count()).toBe(lost === 'answer' ? 0 : 1);
  },
);

test('an import that loses the network in the middle goes on where it stopped, or is taken back whole', async () => {
  const { page } = console;
  console.expectMessage(NETWORK_MESSAGE);
  const before = await ruleValues();
  const lines = addresses(30_000);
  await console.open('/rules/import');
  await loseCall(console.context, '/protect/access-rules/import', 'answer', 2);
  await chooseFile(lines);
  await button('Import').click();
  await page.getByRole('heading', { name: 'Stopped' }).waitFor();
  await page.getByText('10,000 of 30,000 lines: 10,000 added').waitFor();
  await page.getByText('Whether the next piece arrived is not known.').waitFor();
  expect((await ruleValues()).length - before.length).toBe(20_000);
  await button('Continue').click();
  await page.getByRole('heading', { name: 'Imported' }).waitFor();
  await page.getByText('30,000 of 30,000 lines: 20,000 added, 0 changed, 10,000 as before, 0 refused.').waitFor();
  expect((await ruleValues()).length - before.length).toBe(30_000);
  await button(/^Undo: back to version/).click();
  await page.getByText('The rules are as they were before the import.').waitFor();
  expect((await ruleValues()).toSorted()).toEqual(before.toSorted());
  // The first piece: nothing has arrived as far as the page can know, and it can be taken back all the same.
  await console.context.unrouteAll();
  await loseCall(console.context, '/protect/access-rules/import', 'answer');
  await button('Import').click();
  await page.getByText('0 of 30,000 lines').waitFor();
  await button(/^Undo: back to version/).click();
  await eventually(ruleValues, (values) => values.length === before.length);
});

test('a version of the history comes back, and so does the one before', async () => {
  const { page } = console;
  await manage(console.stack(), '/protect/access-rules/create', {
    rules: [{ type: 'countryCode', value: 'NL', verdict: 'challenge' }],
  });
  await console.open('/rules/history');
  const rows = page.getByRole('row');
  await rows.nth(2).getByRole('button').click();
  await console.page.getByRole('dialog').getByRole('button', { name: 'Go back' }).click();
  await eventually(ruleValues, (values) => !values.includes('NL'));
  await button('Undo').click();
  await eventually(ruleValues, (values) => values.includes('NL'));
});

test('a viewer sees rules and no way to change them, and the API refuses their writes', async () => {
  const stack = console.stack();
  await manage(stack, '/users/create', { email: 'viewer-of-rules@example.com', name: 'Viewer', role: 'viewer' });
  const cookie = await sessionByLink(stack, await signInLink(stack, 'viewer-of-rules@example.com'));
  await console.comesAs({}, cookie);
  await console.open('/rules');
  await console.page.getByRole('heading', { name: 'Rules', exact: true }).waitFor();
  expect(await button('Add rules').count()).toBe(0);
  const refused = await fetch(`${stack.serviceUrl}/protect/access-rules/create`, {
    method: 'POST',
    headers: { cookie, origin: new URL(stack.consoleUrl).origin, 'content-type': 'application/json' },
    body: JSON.stringify({ rules: [{ type: 'asn', value: '64501', verdict: 'block' }] }),
  });
  expect(refused.status).toBe(403);
});

test.each(['/rules/explain?ip=192.0.2.1', '/rules/of/asn?value=64500'])(
  '%s has no fault that axe finds, in both themes',
  async (path) => {
    await console.comesAs({ reducedMotion: 'reduce' });
    await console.open(path);
    await console.page.waitForLoadState('networkidle');
    expect(await faultsInBothThemes(console.page)).toEqual([]);
  },
);
