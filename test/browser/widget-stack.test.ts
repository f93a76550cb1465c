/**
 * The browser side through the whole stack: a widget on another site's page, verified by that site's backend, and a page
 * of the protected site whose scripts' requests are challenged.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FrameLocator, Page } from 'playwright-core';
import { expectRows } from '../support/rows.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const CHALLENGED = 'widget-stack-challenged';

const stack = useStack();
const visitor = useVisitor({ context: { userAgent: USER_AGENT } });
let site: Server;

beforeAll(async () => {
  site = createServer((request, response) => {
    const { serviceUrl, siteKey } = stack();
    response.writeHead(200, {
      'content-type': 'text/html',
      'content-security-policy': `default-src 'none'; script-src ${serviceUrl}; connect-src ${serviceUrl}; frame-src 'self' ${serviceUrl}; require-trusted-types-for 'script'`,
    });
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop');
    response.end(
      pathname === '/framing'
        ? `<!doctype html><html lang="en"><title>other</title><iframe title="shop" src="/"></iframe>`
        : `<!doctype html><html lang="en"><title>shop</title><script src="${serviceUrl}/widget.js" defer></script><body><div class="gatehouse-captcha" data-sitekey="${siteKey}" data-start="click" data-action="login" data-user-token="${searchParams.get('user') ?? ''}"></div>`,
    );
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  await manage(stack(), '/protect/access-rules/create', {
    rules: [{ type: 'userAgent', value: CHALLENGED, verdict: 'challenge' }],
  });
  await eventually(
    () => fetch(`${stack().edgeUrl}/`, { headers: { 'user-agent': CHALLENGED } }),
    (response) => response.status === 403,
  );
});
afterAll(() => site.close());

async function siteverify(token: string): Promise<unknown> {
  const response = await fetch(`${stack().serviceUrl}/siteverify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret: stack().secretKey, token, action: 'login' }),
  });
  return response.json();
}

const pageUrl = (path: string): string => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`;

async function auditIds(searchCriteria: object): Promise<string[]> {
  const found = await manage(stack(), '/audit/searchcaptcharecords', { siteKey: stack().siteKey, searchCriteria });
  return (found as { records: { jti: string }[] }).records.map(({ jti }) => jti);
}

/** The jti of the challenge that the widget in `page` is given. */
async function solvedIn(page: Page | FrameLocator): Promise<string> {
  const response = visitor.page.waitForResponse('**/captcha/v1/challenge');
  await page.getByRole('checkbox', { name: 'I am human' }).click();
  await page.getByRole('checkbox', { name: 'Verified' }).waitFor();
  return ((await (await response).json()) as { jti: string }).jti;
}

async function setCaptchaType(captchaType: string): Promise<void> {
  const settings = { domains: ['localhost', '127.0.0.1'], captchaType };
  await manage(stack(), '/sites/update', { siteKey: stack().siteKey, settings });
}

test('the demo page of every mode sends its form with a token, once', () =>
  expectRows(
    [
      ['checkbox', 'label'],
      ['classic', 'box'],
      ['load', null],
      ['submit', null],
      ['invisible', null],
      ['dark', 'label'],
      ['arabic', 'box'],
      ['explicit', null],
    ],
    async ([mode, touch]) => {
      await visitor.comesAs({ userAgent: USER_AGENT });
      await visitor.page.goto(`${stack().edgeUrl}/widget/${mode}`);
      if (touch === 'box') await visitor.page.getByRole('checkbox').click();
      if (touch === 'label') await visitor.page.getByLabel('Message').focus();
      await visitor.page.getByRole('button', { name: 'Send' }).click();
      await visitor.page.waitForURL('**/echo/widget');
      const echoed = JSON.parse(await visitor.page.locator('body').innerText()) as {
        method: string;
        bodyLength: number;
      };
      expect(echoed.method).toBe('POST');
      expect(echoed.bodyLength).toBeGreaterThan(200);
    },
  ));

describe('a page of the protected site', () => {
  test('passes a challenged fetch by the protect script, and the origin gets it once', async () => {
    await visitor.comesAs({ userAgent: `${USER_AGENT} ${CHALLENGED}` });
    await visitor.page.goto(`${stack().edgeUrl}/`);
    // The challenge comes first, and its page has the script too. The edge adds it to the origin's page as well.
    await visitor.page.getByRole('heading', { name: 'Things for a calm desk' }).waitFor();
    await visitor.page.waitForFunction(() => 'gatehouseProtect' in window);
    await visitor.page.evaluate(
      () => (window as unknown as { gatehouseProtect: { ready: Promise<boolean> } }).gatehouseProtect.ready,
    );
    await visitor.context.clearCookies({ name: '__Host-protect-clearance' });
    const echoed = await visitor.page.evaluate(async () => {
      const response = await fetch('/echo/by-script', { method: 'POST', body: 'kept body' });
      return (await response.json()) as { method: string; bodyLength: number };
    });
    expect(echoed).toMatchObject({ method: 'POST', bodyLength: 9 });
    const hits = (await (await fetch(`${stack().originUrl}/hits`)).json()) as Record<string, number>;
    expect(hits['/echo/by-script']).toBe(1);
    expect((await visitor.context.cookies()).map(({ name }) => name)).toContain('protect_session');
  });
});

describe('a widget of the service on a page of another origin', () => {
  test('issues a token that the site’s backend verifies exactly once', async () => {
    const complaints: string[] = [];
    visitor.page.on('console', (message) => complaints.push(message.text()));
    const worker = visitor.page.waitForEvent('worker');
    await visitor.page.goto(pageUrl('/'));
    await visitor.page.getByRole('checkbox', { name: 'I am human' }).click();
    expect((await worker).url()).toContain(`${stack().serviceUrl}/pow-worker.js`);
    await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
    const value = await visitor.page.locator('input[name=captcha-response]').inputValue();
    const { token } = JSON.parse(value) as { token: string };
    expect(await siteverify(token)).toMatchObject({ verified: true });
    expect(await siteverify(token)).toMatchObject({ verified: false });
    expect(complaints).toEqual([]);
  });

  test('says whether it is in a frame, and an audit search finds the captcha by it', async () => {
    await visitor.page.goto(pageUrl('/'));
    const whole = await solvedIn(visitor.page);
    await visitor.page.goto(pageUrl('/framing'));
    const framed = await solvedIn(visitor.page.frameLocator('iframe[title="shop"]'));
    for (const [iFrame, found, other] of [
      [true, framed, whole],
      [false, whole, framed],
    ] as const) {
      const ids = await eventually(
        () => auditIds({ iFrame }),
        (all) => all.includes(found),
      );
      expect(ids).not.toContain(other);
    }
  });

  test('passes on the account that the site signed, and an audit search finds the captcha by it', async () => {
    const signed = (secret: string, account: string): Promise<string> =>
      new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(account).sign(new TextEncoder().encode(secret));
    await visitor.page.goto(pageUrl(`/?user=${await signed(stack().secretKey, 'customer-7')}`));
    const jti = await solvedIn(visitor.page);
    await eventually(
      () => auditIds({ userAccount: 'customer-7' }),
      (ids) => ids.length === 1 && ids[0] === jti,
    );
    await visitor.page.goto(pageUrl(`/?user=${await signed('another secret', 'customer-8')}`));
    const forged = await solvedIn(visitor.page);
    await eventually(
      () => auditIds({ iFrame: false }),
      (ids) => ids.includes(forged),
    );
    expect(await auditIds({ userAccount: 'customer-8' })).toEqual([]);
  });

  test.each([
    ['image', 'button', 'Picture 9'],
    ['puzzle', 'application', 'Circle to move'],
  ] as const)('shows the %s task that the service draws, and the audio task instead', async (kind, role, name) => {
    await setCaptchaType(kind);
    try {
      await eventually(
        async () => {
          await visitor.page.goto(pageUrl('/'));
          await visitor.page.getByRole('checkbox', { name: 'I am human' }).click();
          return visitor.page
            .getByRole('checkbox', { name: /Verified|short task|Try again/ })
            .textContent()
            .then(
              () => visitor.page.getByRole(role, { name }).count(),
              () => 0,
            );
        },
        (shown) => shown === 1,
      );
      await visitor.page.getByRole('button', { name: 'Use sound instead' }).click();
      await visitor.page.getByLabel('Digits').fill('11111');
      await visitor.page.getByRole('button', { name: 'Submit' }).click();
      await visitor.page.getByText('That was not right.').waitFor();
    } finally {
      await setCaptchaType('pow');
    }
  });
});
