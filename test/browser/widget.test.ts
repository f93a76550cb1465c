/** The widget in a real Chromium, on a page with a strict CSP, with real proofs of work. */
import { describe, expect, test } from 'vitest';
import { useVisitor } from '../support/visitor.ts';
import { useWidgetServer } from './widget-server.ts';

const SCRIPT = '<script src="/__protect/widget.js" defer></script>';
const form = (widget: string): string =>
  `<!doctype html><html lang="en"><title>form</title>${SCRIPT}<form method="post" action="/submit"><label>Name <input name="name" value="Ada"></label>${widget}<button name="how" value="fast">Send</button><button name="how" value="slow" id="slow">Send slowly</button></form>`;
const DIV = '<div class="gatehouse-captcha" data-sitekey="site-1" data-start="click"></div>';

const server = useWidgetServer();
const visitor = useVisitor();

async function open(body: string): Promise<void> {
  server.pages.set('/page', { body });
  await visitor.page.goto(`${server.url}/page`);
}

const field = (): Promise<string | null> =>
  visitor.page.evaluate(() => document.querySelector<HTMLInputElement>('input[name=captcha-response]')?.value ?? null);

describe('a marked div under a strict CSP', () => {
  test('becomes a widget that solves in a worker and writes the hidden field', async () => {
    await open(form(DIV));
    await visitor.page.getByRole('checkbox', { name: 'I am human' }).click();
    await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
    const { token } = JSON.parse((await field()) ?? '{}') as { token: string };
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(visitor.page.workers()).toHaveLength(0);
    expect(server.calls.map((call) => call.path)).toEqual(['challenge', 'solution']);
    expect(visitor.complaints).toEqual([]);
  });

  test('runs the proof of work outside the main thread', async () => {
    const started = visitor.page.waitForEvent('worker');
    await open(form(DIV));
    await visitor.page.getByRole('checkbox').click();
    expect((await started).url()).toMatch(/\/__protect\/pow-worker\.js\?v=[0-9a-f]{16}$/);
    await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
  });

  test('works by keyboard and reports its state in a live region', async () => {
    await open(form(DIV));
    await visitor.page.getByRole('checkbox').focus();
    await visitor.page.keyboard.press('Space');
    await visitor.page.getByRole('checkbox', { name: 'Verified', checked: true }).waitFor();
    await expect.poll(() => visitor.page.getByRole('status').textContent()).toBe('Verified');
  });
});

describe('a form submitted without a token', () => {
  test('waits for the token and is then sent with the pressed button', async () => {
    await open(form('<gatehouse-widget sitekey="site-1" start="submit" size="invisible"></gatehouse-widget>'));
    await visitor.page.locator('#slow').click();
    await visitor.page.waitForURL('**/submit');
    const [sent] = server.submitted;
    expect(sent?.get('how')).toBe('slow');
    expect(sent?.get('name')).toBe('Ada');
    expect(JSON.parse(sent?.get('captcha-response') ?? '{}')).toHaveProperty('token');
    expect(server.submitted).toHaveLength(1);
  });
});

describe('an error', () => {
  test('of the service is shown and reported with its key, and a second click retries', async () => {
    const refusal = { status: 400, body: { error: { code: 400, message: 'no', key: 'API.ACCESS_POLICY_BLOCK' } } };
    server.overrides.push(() => refusal);
    await open(form(DIV));
    const told = visitor.page.evaluate(
      () =>
        new Promise((resolve) => {
          document.addEventListener('gatehouse:error', (event) => resolve((event as CustomEvent).detail));
        }),
    );
    await visitor.page.getByRole('checkbox').click();
    expect(await told).toEqual({ code: 'refused', detail: 'API.ACCESS_POLICY_BLOCK' });
    expect(await field()).toBeNull();
    await visitor.page.getByRole('checkbox', { name: /Try again/ }).click();
    await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
  });
});

describe('the proof of work', () => {
  test.each(['sha256', 'wait'] as const)('of lane %s is solved and accepted', async (lane) => {
    server.lane = lane;
    await open(form(DIV));
    await visitor.page.getByRole('checkbox').click();
    await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  test('of a browser without BigInt and workers runs on the page, and the service gets its capabilities', async () => {
    server.lane = 'sha256';
    await visitor.context.addInitScript(() => {
      Reflect.deleteProperty(globalThis, 'BigInt');
      Reflect.deleteProperty(globalThis, 'Worker');
    });
    await open(form(DIV));
    await visitor.page.getByRole('checkbox').click();
    await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
    expect(server.calls[0]?.body['capabilities']).toMatchObject({ bigint: false, worker: false });
  });
});

describe('callbacks', () => {
  test('named in attributes are looked up at each call', async () => {
    const widget =
      '<div class="gatehouse-captcha" data-sitekey="site-1" data-start="click" data-callback="onToken" data-error-callback="onError"></div>';
    await open(form(widget));
    const heard = visitor.page.evaluate(
      () =>
        new Promise<string[]>((resolve) =>
          Object.assign(window, { onError: (...values: string[]) => resolve(values) }),
        ),
    );
    server.overrides.push(() => ({ status: 403, body: { error: { key: 'API.ACCESS_POLICY_BLOCK' } } }));
    await visitor.page.getByRole('checkbox').click();
    expect(await heard).toEqual(['refused', 'API.ACCESS_POLICY_BLOCK']);
    const token = visitor.page.evaluate(
      () => new Promise<string>((resolve) => Object.assign(window, { onToken: (value: string) => resolve(value) })),
    );
    await visitor.page.getByRole('checkbox').click();
    expect(await token).toMatch(/^[\w-]{32}$/);
  });
});

describe('the honeypot', () => {
  test('is invisible, belongs to no form, and its content is sent with the solution', async () => {
    server.honeypot = { name: 'website', question: 'Your website' };
    try {
      await open(form(DIV));
      await visitor.page.getByRole('checkbox').click();
      await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
      expect(server.calls.at(-1)?.body).toMatchObject({ honeypot: '' });
      expect(await visitor.page.getByRole('textbox').count()).toBe(1);
      const inForm = await visitor.page.evaluate(() => [...new FormData(document.querySelector('form')!).keys()]);
      expect(inForm.toSorted()).toEqual(['captcha-response', 'name']);
      await visitor.page.evaluate(() => {
        document.querySelector<HTMLInputElement>('input[name=website]')!.value = 'spam';
        document.querySelector('form')!.reset();
      });
      await visitor.page.getByRole('checkbox').click();
      await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
      expect(server.calls.at(-1)?.body).toMatchObject({ honeypot: 'spam' });
    } finally {
      server.honeypot = undefined;
    }
  });
});
