/** The console's pages about bots. Everything shown is what the API says. */
import { expect, test } from 'vitest';
import type { BotTrafficResponse } from '../../src/contract/management/bot-traffic.ts';
import { quickRules, signalsOf } from '../e2e/edge-visitor.ts';
import { browse } from '../support/browse.ts';
import { faultsInBothThemes } from '../support/axe.ts';
import { sessionByLink, signInLink, useConsole } from '../support/console.ts';
import { eventually, manage } from '../support/stack.ts';

const console = useConsole({ edgeVars: quickRules });
const BINGBOT = 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)';

async function comeAs(userAgent: string, from: string, path: string): Promise<void> {
  const headers = { ...signalsOf(console.stack(), { from }), 'user-agent': userAgent };
  await (await browse(console.stack().edgeUrl + path, { headers })).arrayBuffer();
}

/** A bot from its own network, one with nothing but its name, and somebody else with the name of the first. */
let comes: Promise<BotTrafficResponse> | undefined;
const traffic = (): Promise<BotTrafficResponse> => (comes ??= makeTraffic());

async function makeTraffic(): Promise<BotTrafficResponse> {
  const stack = console.stack();
  const overrides = [{ bot: 'bingbot', path: '/drafts/', action: 'block' }];
  const id = stack.instanceId;
  await manage(stack, '/protect/instances/update', { id, monitor: false, botPolicy: { overrides } });
  // The table of bots and the policy come to the edge behind responses.
  await eventually(
    async () => {
      await comeAs(BINGBOT, '157.55.39.1', '/drafts/<b>1</b>');
      const filter = { bot: 'bingbot', proof: 'range', decision: 'block' };
      return manage<{ total: number }>(stack, '/protect/verdicts', filter);
    },
    ({ total }) => total > 0,
  );
  await comeAs(BINGBOT, '157.55.39.1', '/robots.txt');
  await comeAs('FeedReader Feedly/1.0', '192.0.2.30', '/feed');
  await comeAs('DuckDuckBot/1.1', '192.0.2.31', '/false-duck');
  const report = () => manage<BotTrafficResponse>(stack, '/protect/bots/traffic', { includeInternal: false });
  return eventually(
    report,
    ({ bots, impostors }) =>
      bots.some((bot) => bot.id === 'feedly') &&
      (bots.find((bot) => bot.id === 'bingbot')?.robots?.disallowed ?? 0) > 0 &&
      [...bots, ...impostors].some((bot) => bot.id === 'duckduckbot'),
  );
}

test('the page Bots shows who came, with proof, what they got and what they came for anyway', async () => {
  const { page } = console;
  const { bots, total } = await traffic();
  await console.open('/bots');
  await page.locator('nav[aria-label="Bots"] [aria-current="page"]', { hasText: 'Traffic' }).waitFor();
  const row = rowOf('Bots, most requests first', 'bingbot');
  const bing = bots.find((bot) => bot.id === 'bingbot')!;
  const text = await row.innerText();
  expect(text).toContain(`range ${bing.proofs.range}`);
  expect(text).toContain(`blocked ${bing.block}`);
  expect(text).toContain(`${((bing.total / total) * 100).toFixed(1).replace('.0', '')}%`);
  expect(await rowOf('Bots, most requests first', 'feedly').innerText()).toContain('claimed 1');
  // What visitors chose is text.
  await row.locator('summary').press('Enter');
  await row.getByText('/drafts/%3Cb%3E1%3C/b%3E').waitFor();
  await row.getByText('Disallow: /drafts/').waitFor();
  await page.getByRole('figure', { name: 'Requests with the name of a bot over time' }).waitFor();

  await row.getByRole('link', { name: `range ${bing.proofs.range}` }).click();
  await page.waitForURL(/\/verdicts\?.*bot=bingbot&proof=range/);
  expect(await page.getByRole('textbox', { name: 'Bots', exact: true }).inputValue()).toBe('bingbot');
  await page.getByText(`${bing.proofs.range} verdicts`).waitFor();
  await page.getByRole('row').nth(1).getByRole('link', { name: 'range' }).waitFor();
  await page.getByRole('row').nth(1).getByRole('link').first().click();
  await page.getByRole('definition').filter({ hasText: 'bingbot (search), range' }).waitFor();
});

test('the report about bots has no accessibility fault, in both themes and on a phone', async () => {
  await traffic();
  for (const width of [1280, 360]) {
    await console.comesAs({ viewport: { width, height: 900 } });
    await console.open('/bots');
    await console.page.getByRole('table', { name: 'Bots, most requests first' }).waitFor();
    await console.page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
    expect(await faultsInBothThemes(console.page)).toEqual([]);
    expect(await console.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
});

interface OwnBot {
  id: string;
  behaviours: string[];
  patterns: string[];
  networks: string[];
  isComplete: boolean;
}
const ownBots = async () => (await manage<{ bots: OwnBot[] }>(console.stack(), '/protect/bots/own')).bots;
const button = (name: string) => console.page.getByRole('button', { name, exact: true });
const rowOf = (table: string, text: string) =>
  console.page.getByRole('table', { name: table, exact: true }).getByRole('row').filter({ hasText: text });

test('an own bot is added, changed and removed by the form, with the keyboard', async () => {
  const { page } = console;
  await console.open('/bots/lists');
  await page.getByRole('heading', { name: 'No bot of your own' }).waitFor();
  await button('Add a bot').press('Enter');
  await page.getByLabel('Id', { exact: true }).fill('shopbot');
  await page.getByLabel('monitor', { exact: true }).press('Space');
  await page.getByLabel('Texts in its user agent').fill('ShopBot/\n');
  await page.getByLabel('Networks that it comes from').fill('20.9.9.77/24');
  await page.getByLabel('It comes from nowhere else').press('Space');
  await page.getByLabel('Id', { exact: true }).press('Enter');
  await rowOf('Your own bots', 'shopbot').waitFor();
  const added = { id: 'shopbot', behaviours: ['monitor'], patterns: ['ShopBot/'], networks: ['20.9.9.0/24'] };
  expect(await ownBots()).toEqual([{ ...added, tokens: [], isComplete: true }]);

  await button('Change shopbot').click();
  await page.getByLabel('Networks that it comes from').fill('20.9.8.0/24\n20.9.7.1');
  await button('Save').click();
  await page.getByText('20.9.7.1/32').waitFor();
  expect((await ownBots())[0]?.networks).toEqual(['20.9.8.0/24', '20.9.7.1/32']);

  await button('Remove shopbot').click();
  await page.getByText('1 user agent and 2 networks').waitFor();
  await button('Remove').click();
  await page.getByRole('heading', { name: 'No bot of your own' }).waitFor();
  await button('Undo').click();
  await rowOf('Your own bots', 'shopbot').waitFor();
  expect((await ownBots())[0]?.networks).toEqual(['20.9.8.0/24', '20.9.7.1/32']);
  await manage(console.stack(), '/protect/bots/own/remove', { id: 'shopbot' });
});

test('a bot that the service refuses stays in the form with the reason', async () => {
  const { page } = console;
  console.expectMessage(/status of 400/);
  await console.open('/bots/lists');
  await button('Add a bot').click();
  await page.getByLabel('Id', { exact: true }).fill('shopbot');
  await page.getByLabel('seo', { exact: true }).check();
  await page.getByLabel('Texts in its user agent').fill('Mozilla/');
  await page.getByLabel('Networks that it comes from').fill('0.0.0.0/0');
  await button('Add').click();
  await page.getByRole('alert').getByText('is in the user agents of browsers').waitFor();
  expect(await page.getByRole('alert').getByText('is too wide').innerText()).toMatch(
    /^Networks that it comes from line 1: /,
  );
  expect(await page.getByLabel('Id', { exact: true }).inputValue()).toBe('shopbot');
  expect(await ownBots()).toEqual([]);
});

test('the catalogue is found by text, behaviour and proof, and its address brings the same bots back', async () => {
  const { page } = console;
  await console.open('/bots/lists');
  const search = page.getByLabel('Name or user agent');
  await search.fill('GPTBot');
  await search.press('Enter');
  await rowOf('Bots of the catalogue', 'gptbot').waitFor();
  await page.waitForURL(/search=GPTBot/);
  await page.getByLabel('Comes for').selectOption('training');
  await page.reload();
  await rowOf('Bots of the catalogue', 'gptbot').getByRole('link').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('https://openai.com/gptbot.json').waitFor();
  const requests = dialog.getByRole('link', { name: 'in the verdict log' });
  expect(new URL((await requests.getAttribute('href'))!, page.url()).searchParams.get('bot')).toBe('gptbot');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByLabel('Comes for').selectOption('webhook');
  await page.getByRole('heading', { name: 'No bot matches' }).waitFor();
});

test('each published list is shown with its networks and its age, and one that the mirror has not as unread', async () => {
  interface List {
    url: string;
    networkCount: number;
    error: string | null;
  }
  const lists = await eventually(
    async () => (await manage<{ lists: List[] }>(console.stack(), '/protect/bots/lists')).lists,
    (all) => all.some(({ url, networkCount }) => url.endsWith('/bingbot.json') && networkCount > 0),
  );
  await console.open('/bots/lists');
  const bing = lists.find(({ url }) => url.endsWith('/bingbot.json'))!;
  const row = rowOf('Published networks', bing.url);
  await row.getByText('good').waitFor();
  expect(await row.getByRole('cell').nth(2).innerText()).toBe(String(bing.networkCount));
  expect(await row.locator('time').count()).toBe(2);
  expect(lists.filter(({ error }) => error !== null)).toEqual([]);
  const unread = lists.find(({ networkCount }) => networkCount === 0)!;
  await rowOf('Published networks', unread.url).getByText('not read yet').waitFor();
});

test('people who may only read see the lists without buttons that change them', async () => {
  const viewer = { email: 'viewer-of-bots@example.com', name: 'Vi', role: 'viewer' };
  await manage(console.stack(), '/users/create', viewer);
  const cookie = await sessionByLink(console.stack(), await signInLink(console.stack(), viewer.email));
  await manage(console.stack(), '/protect/bots/own/add', {
    id: 'shopbot',
    behaviours: ['seo'],
    patterns: ['ShopBot/'],
  });
  await console.comesAs({}, cookie);
  await console.open('/bots/lists');
  await rowOf('Your own bots', 'shopbot').waitFor();
  expect(await console.page.getByRole('button', { name: /shopbot|Add a bot/ }).count()).toBe(0);
  await manage(console.stack(), '/protect/bots/own/remove', { id: 'shopbot' });
});

test('signatures of agents are made to count once in the policy, and nothing else of it changes', async () => {
  const policyOf = async () => {
    const [instance] = await manage<{ id: string; botPolicy: object }[]>(console.stack(), '/protect/instances');
    return instance!.botPolicy;
  };
  const before = await policyOf();
  await console.open('/bots/policy');
  await console.page.getByRole('checkbox', { name: 'Each signature counts once' }).check();
  await button('Save').click();
  await eventually(policyOf, (policy) => JSON.stringify(policy).includes('"nonce":"once"'));
  expect(await policyOf()).toEqual({ ...before, signatures: { nonce: 'once' } });
});

test('the page has no fault that a screen reader meets, in either theme', async () => {
  await console.open('/bots/lists');
  await rowOf('Bots of the catalogue', 'adsbot-google').first().waitFor();
  expect(await faultsInBothThemes(console.page)).toEqual([]);
});

interface Policy {
  behaviours: Record<string, string>;
  overrides: object[];
  charge: object | null;
}
const policyNow = async (): Promise<Policy> => {
  const { instanceId } = console.stack();
  const list = await manage<{ id: string; botPolicy: Policy }[]>(console.stack(), '/protect/instances');
  return list.find(({ id }) => id === instanceId)!.botPolicy;
};
const setInstance = (members: object) =>
  manage(console.stack(), '/protect/instances/update', { id: console.stack().instanceId, ...members });
const asBing = (path: string) =>
  browse(console.stack().edgeUrl + path, {
    headers: { ...signalsOf(console.stack(), { from: '157.55.39.1' }), 'user-agent': BINGBOT },
  });

test('a switch of the policy says what it changes, and the edge and robots.txt follow', async () => {
  const { page } = console;
  await setInstance({ monitor: false, botPolicy: {} });
  await eventually(
    async () => (await asBing('/echo')).status,
    (status) => status === 200,
  );
  await console.open('/bots/policy');
  const search = page.getByLabel('Search engines (search)');
  await search.getByText('by the preset: allow').waitFor({ state: 'attached' });
  await search.selectOption('block');
  await rowOf('Bots that would get something else', 'bingbot').getByText('block').waitFor();
  await page.getByText('robots.txt changes.').waitFor();
  expect((await policyNow()).behaviours).toEqual({});
  // Another setting is changed elsewhere meanwhile.
  console.expectMessage(/status of 409/);
  await setInstance({ clearanceSeconds: 1801 });
  await button('Save').click();
  await page.getByText(/^Saved\./).waitFor();
  expect((await policyNow()).behaviours).toEqual({ search: 'block' });
  await eventually(
    async () => (await asBing('/echo')).status,
    (status) => status === 403,
  );
  const served = await eventually(
    async () => (await asBing('/robots.txt')).text(),
    (text) => /^User-agent: bingbot$/im.test(text),
  );
  await console.open(`/bots/robots?host=${new URL(console.stack().edgeUrl).host}`);
  const file = page.getByRole('region', { name: 'robots.txt' });
  await file.getByText('User-agent: bingbot').waitFor();
  expect(await file.locator('.file-line').count()).toBe(served.split('\n').length - 1);
  await page.getByLabel('Find a bot').fill('bingbot');
  await rowOf('What bots are told', 'bingbot').getByText('none').waitFor();
});

test('exceptions and the price are added and removed, and somebody else’s policy is not overwritten', async () => {
  const { page } = console;
  await setInstance({ botPolicy: {} });
  await console.open('/bots/policy');
  await page.getByLabel('Bot or behaviour').fill('gptbot');
  await page.getByLabel('Path', { exact: true }).fill('/blog/');
  await page.getByLabel('Gets', { exact: true }).selectOption('charge');
  console.expectMessage(/status of 400/);
  await button('Add exception').click();
  await page.getByRole('alert').getByText('must have a charge').waitFor();
  await button('Set a price').click();
  await page.getByLabel('Price', { exact: true }).fill('USD 0.01');
  await page.getByLabel('Licence', { exact: true }).fill('https://shop.example/licence');
  await page.getByRole('heading', { name: 'What changes' }).waitFor();
  await button('Save').click();
  await page.getByText(/^Saved\./).waitFor();
  expect(await policyNow()).toMatchObject({
    overrides: [{ bot: 'gptbot', path: '/blog/', action: 'charge' }],
    charge: { price: 'USD 0.01', licenseUrl: 'https://shop.example/licence' },
  });
  await button('Remove exception 1').click();
  console.expectMessage(/status of 409/);
  await setInstance({ botPolicy: { preset: 'open' } });
  await button('Save').click();
  await page.getByText('Somebody else has changed botPolicy meanwhile.').waitFor();
  await button('Discard').click();
  expect(await page.getByLabel('Preset').inputValue()).toBe('open');
  await setInstance({ botPolicy: {} });
});

test('robots.txt of an origin is shown line by line, and what is hostile in it stays text', async () => {
  const { page } = console;
  const { serviceUrl, instanceId } = console.stack();
  const issued = await manage<{ clientJwt: string }>(console.stack(), '/protect/client-jwt/generate', {
    protectInstanceId: instanceId,
    expiresInWeeks: 1,
  });
  const hostile = '# <img src=x onerror="document.title=1"> \u202Egnp.exe\u0007';
  const text = `User-agent: *\nDisallow: /private/\n\n${hostile}\nUser-agent: <script>alert(1)</script>\nDisallow: /\n`;
  const kept = await fetch(`${serviceUrl}/edge/v1/robots`, {
    method: 'POST',
    headers: { authorization: `Bearer ${issued.clientJwt}`, 'content-type': 'application/json' },
    body: JSON.stringify({ host: 'hostile.test', state: 'file', text }),
  });
  expect(kept.status).toBe(200);
  await eventually(
    () => manage<{ hosts: { host: string }[] }>(console.stack(), '/protect/robots', {}),
    ({ hosts }) => hosts.some(({ host }) => host === 'hostile.test'),
  );
  await console.open('/bots/robots?host=hostile.test&show=diff');
  const file = page.getByRole('region', { name: 'robots.txt' });
  await file.getByText('<script>alert(1)</script>').waitFor();
  await file.getByText('U+202E').waitFor();
  expect(await file.locator('img, script').count()).toBe(0);
  expect(await file.locator('.file-line-same').first().innerText()).toContain('User-agent: *');
  expect(await file.locator('.file-line-removed').count()).toBe(0);
  expect(await file.locator('.file-line-added').count()).toBeGreaterThan(10);
  await page.getByLabel('Show', { exact: true }).selectOption('origin');
  expect(await file.locator('.file-line').count()).toBe(6);
});

test.each(['/bots/policy', '/bots/robots?show=diff'])(
  '%s has no fault that axe finds, and fits 360 pixels',
  async (path) => {
    await console.open(path);
    const { page } = console;
    await page
      .getByText(path === '/bots/policy' ? 'by the preset: allow' : 'may fetch everything')
      .first()
      .waitFor({ state: 'attached' });
    expect(await faultsInBothThemes(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  },
);
