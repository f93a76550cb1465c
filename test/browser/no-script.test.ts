/** A form on another site's page, for a visitor whose browser runs no scripts: the service's waiting page in a frame. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answering, bodyOf } from '../support/answering.ts';
import { changeSite, useStack } from '../support/stack.ts';
import { faultsWithoutScript } from '../support/axe.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const stack = useStack();
const visitor = useVisitor({ context: { userAgent: USER_AGENT, javaScriptEnabled: false } });
let site: Server;

beforeAll(async () => {
  await changeSite(stack(), { minimumLevel: 0 });
  site = createServer(
    answering(async (request, response) => {
      const { serviceUrl, siteKey, secretKey } = stack();
      if (request.method === 'POST') {
        const body = (await bodyOf(request)).toString();
        const { token } = JSON.parse(new URLSearchParams(body).get('captcha-response') ?? '') as { token: string };
        const answer = await fetch(`${serviceUrl}/siteverify`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ secret: secretKey, token, action: 'contact' }),
        });
        response.end(`<!doctype html><title>Sent</title><pre>${await answer.text()}</pre>`);
        return;
      }
      response.writeHead(200, {
        'content-type': 'text/html',
        // The page's own referrer policy must not break the frame.
        'referrer-policy': 'no-referrer',
        'content-security-policy': `default-src 'none'; script-src ${serviceUrl}; connect-src ${serviceUrl}; frame-src ${serviceUrl}; form-action 'self'`,
      });
      response.end(`<!doctype html><html lang="en"><title>Contact</title><form method="post">
<label>Message <input name="message"></label>
<div class="gatehouse-captcha" data-sitekey="${siteKey}" data-action="contact"></div>
<noscript><iframe src="${serviceUrl}/captcha/v1/wait?sitekey=${siteKey}&action=contact" referrerpolicy="origin" title="Are you human?" width="304" height="240"></iframe>
<label>Text from above <textarea name="captcha-response"></textarea></label></noscript>
<button>Send</button></form><script src="${serviceUrl}/widget.js" defer></script>`);
    }),
  );
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
});
afterAll(() => site.close());

test('a form is sent without script: press, wait, press, copy, send', async () => {
  const { page } = visitor;
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const frame = page.frameLocator('iframe');
  const faults = async (): Promise<string[]> => faultsWithoutScript((await page.frames().at(-1)?.content()) ?? '');
  await frame.getByRole('button', { name: 'I am human' }).waitFor();
  expect(await faults()).toEqual([]);
  await frame.getByRole('button', { name: 'I am human' }).click();
  // Pressed at once: the next page shows its button only after the wait.
  await frame.getByText('Please wait.').waitFor();
  const next = frame.getByRole('button', { name: 'Continue' });
  expect(await next.isVisible()).toBe(false);
  expect(await faults()).toEqual([]);
  await next.click();
  const copied = await frame.getByRole('textbox').inputValue();
  expect(await faults()).toEqual([]);
  await page.getByLabel('Message').fill('hello');
  await page.getByLabel('Text from above').fill(`${copied}\n`);
  await page.getByRole('button', { name: 'Send' }).click();
  const verified = JSON.parse(await page.locator('pre').innerText()) as object;
  expect(verified).toMatchObject({ verified: true, level: 0, action: 'contact', hostname: '127.0.0.1' });
});
