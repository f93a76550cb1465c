/**
 * One test in Chromium for each promise of the README, in its order: what an operator or a visitor sees of it.
 * `over-http.test.ts` has the same promises over HTTP.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { addRules, hitsOf, quickRules, signalsOf, type VisitorSignals } from '../e2e/edge-visitor.ts';
import { signInLink, useConsole } from '../support/console.ts';
import { WAIT_MS } from '../support/eventually.ts';
import { eventually, manage } from '../support/stack.ts';
import { sharedChromium } from '../support/visitor.ts';
import { examplesOf } from './readme.ts';

const console = useConsole({ edgeVars: quickRules });

let visitor: BrowserContext | undefined;
afterEach(async () => {
  await visitor?.close();
  visitor = undefined;
});

/** A new visitor's page. With `from`, the gate sees them at that address; `name` is a part of their user agent. */
async function visitorPage({ name = 'person', ...signals }: VisitorSignals & { name?: string } = {}): Promise<Page> {
  const userAgent = `Mozilla/5.0 (X11; Linux x86_64) Chrome/153.0 ${name}`;
  const options = { userAgent, extraHTTPHeaders: signalsOf(console.stack(), signals) };
  visitor = await (await sharedChromium()).newContext(options);
  visitor.setDefaultTimeout(WAIT_MS);
  return visitor.newPage();
}

async function decisionAt(page: Page, path: string): Promise<string | undefined> {
  const response = await page.goto(console.stack().edgeUrl + path);
  return response?.headers()['x-protect-decision'];
}

const button = (name: string) => console.page.getByRole('button', { name, exact: true });

test('Quick start: the printed link signs in, and a visit to the site appears in the live tail with its reason', async () => {
  await console.comesAs({}, null);
  const { page } = console;
  await page.goto(await signInLink(console.stack(), console.stack().ownerEmail));
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await page.getByRole('link', { name: 'Live tail' }).click();
  await page.getByRole('heading', { level: 1, name: 'Live tail' }).waitFor();
  expect(await decisionAt(await visitorPage(), '/search?q=promised')).toBe('allow');
  const row = page.getByRole('row').filter({ hasText: '/search' }).first();
  await row.getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: 'Why this was allowed' }).waitFor();
});

test('Decides at the edge: with the service gone, a page still opens and a rule still blocks', async () => {
  const stack = console.stack();
  await addRules(stack, { type: 'userAgent', value: 'outage-bot', verdict: 'block' });
  await stack.stopService();
  try {
    expect(await decisionAt(await visitorPage(), '/contact')).toBe('allow');
    await visitor?.close();
    expect(await decisionAt(await visitorPage({ name: 'outage-bot' }), '/contact')).toBe('block');
  } finally {
    await stack.startService();
  }
});

test('Matches networks like a router: the one allowed address of a blocked network sees the site', async () => {
  const stack = console.stack();
  await addRules(
    stack,
    { type: 'ip', value: '203.0.113.7', verdict: 'allow' },
    { type: 'ipMask', value: '203.0.113.0/24', verdict: 'block' },
  );
  const inside = await visitorPage({ from: '203.0.113.7' });
  expect(await decisionAt(inside, '/')).toBe('allow');
  await visitor?.close();
  const beside = await visitorPage({ from: '203.0.113.8' });
  expect(await decisionAt(beside, '/')).toBe('block');
  await beside.getByRole('heading', { level: 1 }).waitFor();
});

test('Challenges without losing a request: a challenged form arrives once, after the browser has solved', async () => {
  const stack = console.stack();
  await addRules(stack, { type: 'userAgent', value: 'challenged-person', verdict: 'challenge' });
  const page = await visitorPage({ name: 'challenged-person' });
  await page.route(`${stack.edgeUrl}/form`, (route) =>
    route.fulfill({
      contentType: 'text/html; charset=utf-8',
      body: '<form method="post" action="/echo/promised"><input name="name"><button>Send</button></form>',
    }),
  );
  await page.goto(`${stack.edgeUrl}/form`);
  await page.fill('input[name=name]', 'Ada & Grace=✓');
  await page.click('button');
  await page.getByText('bodySha256').waitFor();
  const echoed = JSON.parse(await page.locator('body').innerText()) as { method: string; bodyLength: number };
  const bodyLength = new URLSearchParams({ name: 'Ada & Grace=✓' }).toString().length;
  expect(echoed).toMatchObject({ method: 'POST', bodyLength });
  expect(await hitsOf(stack, '/echo/promised')).toBe(1);
});

test('Knows good bots from impostors: the demo’s false Googlebot is challenged, and the console names it', async () => {
  const page = await visitorPage();
  interface Found {
    verdicts: { bot: { proof: string } | null }[];
  }
  let reference: string | undefined;
  // It is challenged from the first request on, and an impostor once the lists are read and its host name is looked up.
  await eventually(
    async () => {
      await page.goto(`${console.stack().originUrl}/bots`);
      await page.getByRole('button', { name: 'Send as googlebot' }).click();
      await page.getByText('A name is only claimed until its proof arrives').waitFor();
      expect(await page.getByText('403 challenge').count()).toBe(1);
      reference = /-- why ([0-9a-f-]{36})/.exec(await page.content())?.[1];
      const { verdicts } = await eventually(
        () => manage<Found>(console.stack(), '/protect/verdicts', { requestId: reference }),
        (found) => found.verdicts.length === 1,
      );
      return verdicts[0]?.bot?.proof;
    },
    (proof) => proof === 'impostor',
  );
  await console.open(`/verdicts/${reference}`);
  await console.page
    .getByText(/googlebot/i)
    .first()
    .waitFor();
  await console.page
    .getByText(/impostor/i)
    .first()
    .waitFor();
});

interface Shop {
  url: string;
  /** What the backend of the last submitted form found, in the order of its questions. */
  verdicts: boolean[];
  server: Server;
}
let shop: Shop;

/** A site whose page and backend are the examples of the README, with the addresses of this stack. */
async function startShop(): Promise<Shop> {
  const { serviceUrl, siteKey, secretKey } = console.stack();
  const [form = ''] = examplesOf('Verifying in a backend', 'html');
  const [code = ''] = examplesOf('Verifying in a backend', 'js');
  const here = (text: string): string =>
    text.replaceAll('https://gatehouse.example.com', serviceUrl).replaceAll('YOUR_SITE_KEY', siteKey);
  const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as new (
    ...source: string[]
  ) => (form: URLSearchParams, process: object) => Promise<boolean>;
  const isVerified = new AsyncFunction('form', 'process', `${here(code)}; return verified;`);
  const verdicts: boolean[] = [];
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (request.method !== 'POST') return response.end(`<!doctype html><title>shop</title>${here(form)}`);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const submitted = new URLSearchParams(Buffer.concat(chunks).toString());
    const process = { env: { CAPTCHA_SECRET: secretKey } };
    verdicts.push(await isVerified(submitted, process), await isVerified(submitted, process));
    return response.end(`<!doctype html><title>shop</title><p>Signed up: ${verdicts.at(-2)}</p>`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, verdicts, server };
}
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop?.server.close());

async function signUp(): Promise<void> {
  const page = await visitorPage();
  await page.goto(shop.url);
  await page.getByRole('checkbox', { name: 'I am human' }).click();
  await page.getByRole('checkbox', { name: 'Verified' }).waitFor();
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByText('Signed up').waitFor();
}

test('Verifies exactly once: a backend that asks again about a submitted form hears false', async () => {
  await signUp();
  expect(shop.verdicts.slice(-2)).toEqual([true, false]);
});

test('Explains itself: the reference on a block page leads the console to the rule that decided', async () => {
  await addRules(console.stack(), { type: 'userAgent', value: 'explained-bot', verdict: 'block' });
  const page = await visitorPage({ name: 'explained-bot' });
  const response = await page.goto(`${console.stack().edgeUrl}/explained`);
  const reference = response?.headers()['x-protect-request-id'] ?? '';
  expect(await page.content()).toContain(reference);
  await eventually(
    () => manage<{ total: number }>(console.stack(), '/protect/verdicts', { requestId: reference }),
    ({ total }) => total === 1,
  );
  await console.open('/find');
  await console.page.getByRole('searchbox').fill(reference);
  await console.page.keyboard.press('Enter');
  await console.page.getByRole('heading', { level: 1, name: 'Why this was blocked' }).waitFor();
  await console.page.getByRole('row', { name: /^userAgent:explained-bot decided/ }).waitFor();
});

test('Rules in 60 seconds: the console adds a rule after a preview, the site enforces it, and undo takes it back', async () => {
  await console.open('/rules');
  await button('Add rules').click();
  const dialog = console.page.getByRole('dialog');
  await dialog.getByLabel('Matches').selectOption('userAgent');
  await dialog.getByLabel(/one per line/).fill('sixty-seconds-bot');
  await button('Preview').click();
  await dialog.getByText(/of the last 24 hours’/).waitFor();
  await button('Add the rule').click();
  await console.page.getByText('1 added, 0 changed.').waitFor();
  const page = await visitorPage({ name: 'sixty-seconds-bot' });
  const decision = () => decisionAt(page, '/');
  await eventually(decision, (made) => made === 'block');
  await button('Undo').click();
  await eventually(decision, (made) => made === 'allow');
});

test('Verifying in a backend: the form and the backend of the README accept a person’s submission', async () => {
  await signUp();
  await visitor!.pages()[0]!.getByText('Signed up: true').waitFor();
});
