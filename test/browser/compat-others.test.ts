/** `window.hcaptcha`, `window.grecaptcha` and `window.procaptcha` on pages under a strict CSP. */
import { describe, expect, test } from 'vitest';
import { expectRows } from '../support/rows.ts';
import { TOKEN, useCompatPage } from './compat-page.ts';

const page = useCompatPage();
const { server, open, run, heard, hears, fields, press, verified } = page;
const form = (inner: string): string => `<form method="post" action="/submit">${inner}<button>Send</button></form>`;
const challenges = (): Record<string, unknown>[] =>
  server.calls.filter(({ path }) => path === 'challenge').map(({ body }) => body);

describe('hCaptcha’s API', () => {
  const SCRIPT = '<script src="/hcaptcha/1/api.js" defer></script>';
  const EXPLICIT = '<script src="/hcaptcha/1/api.js?render=explicit&amp;onload=ready&amp;hl=de" defer></script>';
  const OPTIONS =
    "{ sitekey: 'site-1', callback: hear('token'), 'error-callback': hear('error'), 'open-callback': hear('open'), 'close-callback': hear('close'), 'chalexpired-callback': hear('chalexpired') }";

  test('waits for a click on the box, and fills both fields, once', async () => {
    server.tokenLifetimeMs = 60_000;
    const { clock } = page.visitor.page;
    await clock.install({ time: 0 });
    await clock.pauseAt(1000);
    await open(
      SCRIPT +
        form(
          '<div class="h-captcha" data-sitekey="site-1" data-callback="onToken" data-expired-callback="onExpired"></div>',
        ),
      "onToken = hear('token'); onExpired = hear('expired');",
    );
    await clock.runFor(100);
    await press();
    await hears('token', TOKEN);
    await clock.runFor(60_000);
    // It renews no token: a callback that sends the form must not be called again.
    await hears('expired');
    expect((await heard()).map(([name]) => name)).toEqual(['token', 'expired']);
    expect([await fields('h-captcha-response'), await fields('g-recaptcha-response')]).toEqual([[''], ['']]);
  });

  test('is not in the way of reCAPTCHA with recaptchacompat=off', async () => {
    await open(
      SCRIPT.replace('api.js', 'api.js?recaptchacompat=off') +
        form('<div class="h-captcha" data-sitekey="site-1"></div>'),
    );
    await press();
    await verified();
    expect(await fields('g-recaptcha-response')).toEqual([]);
    expect(await fields('h-captcha-response')).toEqual([await run('hcaptcha.getResponse()')]);
    expect(await run('typeof grecaptcha')).toBe('undefined');
  });

  test('speaks the language of its address, and executes with a promise', async () => {
    await open(
      EXPLICIT + form('<div id="place"></div>'),
      `ready = () => { id = hcaptcha.render('place', ${OPTIONS}); };`,
    );
    await page.visitor.page.getByRole('checkbox', { name: 'Ich bin ein Mensch' }).waitFor();
    const first = await run<{ response: string }>('hcaptcha.execute(id, { async: true })');
    expect(first).toEqual({ response: TOKEN, key: '' });
    const second = await run<{ response: string }>('hcaptcha.execute({ async: true })');
    expect(second.response).not.toBe(first.response);
    expect(await run('hcaptcha.getResponse(id)')).toBe(second.response);
  });

  test.each([
    ["hcaptcha.execute('nowhere', { async: true })", 'invalid-captcha-id'],
    ['hcaptcha.execute({ async: true })', 'missing-captcha'],
  ])('%s rejects with %s', async (source, code) => {
    await open(EXPLICIT, "ready = hear('ready');");
    await hears('ready');
    expect(await run(`${source}.catch((error) => error)`)).toBe(code);
  });

  test('rejects when the visitor closes the task, and calls no error callback', async () => {
    server.kind = 'puzzle';
    await open(
      EXPLICIT + '<div id="place"></div>',
      `ready = () => { id = hcaptcha.render('place', { ...${OPTIONS}, size: 'invisible' }); hear('ready')(); };`,
    );
    await hears('ready');
    const closed = run('hcaptcha.execute(id, { async: true }).catch((error) => error)');
    await hears('open');
    await page.visitor.page.keyboard.press('Escape');
    expect(await closed).toBe('challenge-closed');
    expect((await heard()).map(([name]) => name)).toEqual(['ready', 'open', 'close']);
  });

  test('closes a task for the page, and keeps a token that there is', async () => {
    server.kind = 'puzzle';
    await open(
      EXPLICIT + '<div id="place"></div>',
      `ready = () => { id = hcaptcha.render('place', ${OPTIONS}); hear('ready')(); };`,
    );
    await hears('ready');
    await run('hcaptcha.execute(id)');
    await hears('open');
    await run('hcaptcha.close(id)');
    await hears('close');
    server.kind = 'pow';
    const { response } = await run<{ response: string }>('hcaptcha.execute(id, { async: true })');
    expect(await run('hcaptcha.close(id), hcaptcha.getResponse(id)')).toBe(response);
  });

  test('rejects where an invisible one is refused, and shows the visitor nothing', async () => {
    server.overrides.push(() => ({ status: 400, body: { error: { key: 'API.ACCESS_POLICY_BLOCK' } } }));
    await open(
      EXPLICIT + '<div id="place"></div>',
      `ready = () => { hcaptcha.render('place', { ...${OPTIONS}, size: 'invisible' }); hear('ready')(); };`,
    );
    await hears('ready');
    expect(await run('hcaptcha.execute({ async: true }).catch((error) => error)')).toBe('invalid-data');
    expect(await heard()).toEqual([['ready'], ['error', 'invalid-data']]);
    expect(await page.visitor.page.getByRole('dialog').count()).toBe(0);
  });

  test('reports a refusal to the callback', async () => {
    server.overrides.push(() => ({ status: 400, body: { error: { key: 'API.SITE_KEY_NOT_REGISTERED' } } }));
    await open(
      EXPLICIT + '<div id="place"></div>',
      `ready = () => { id = hcaptcha.render('place', ${OPTIONS}); hcaptcha.execute(); };`,
    );
    await hears('error', 'invalid-data');
  });
});

describe('reCAPTCHA’s API', () => {
  const SCRIPT = '<script src="/recaptcha/api.js" defer></script>';
  const EXPLICIT = '<script src="/recaptcha/api.js?render=explicit&amp;onload=ready" defer></script>';

  test('numbers its widgets, and has a textarea with the id that pages look for', async () => {
    const place = '<div class="g-recaptcha" data-sitekey="site-1"></div>';
    await open(SCRIPT + form(place + place));
    const boxes = page.visitor.page.getByRole('checkbox');
    await expect.poll(() => boxes.count()).toBe(2);
    await boxes.nth(1).click();
    await verified();
    expect(await run('[grecaptcha.getResponse(), grecaptcha.getResponse(0)]')).toEqual(['', '']);
    expect(await run('document.querySelector("textarea#g-recaptcha-response").value')).toBe('');
    expect(await run('grecaptcha.getResponse(1)')).toBe(
      await run('document.getElementById("g-recaptcha-response-1").value'),
    );
    expect(await page.visitor.page.locator('textarea').first().isVisible()).toBe(false);
  });

  test('solves for a button that is bound to it, and lets the page send the form, once', async () => {
    const button =
      '<button class="g-recaptcha" data-sitekey="site-1" data-callback="onToken" data-action="buy">Buy</button>';
    await open(
      SCRIPT + `<form method="post" action="/submit">${button}</form>`,
      'onToken = () => document.forms[0].submit();',
    );
    await page.visitor.page.getByRole('button', { name: 'Buy' }).click();
    await page.visitor.page.waitForURL('**/submit');
    expect(challenges()[0]).toMatchObject({ action: 'buy' });
    expect(server.submitted.map((sent) => [...sent.keys()])).toEqual([['g-recaptcha-response']]);
  });

  test('gives version 3 a token for each call, side by side and with their actions, and leaves nothing in the page', async () => {
    await open(
      '<script src="/recaptcha/api.js?render=site-1" defer></script>',
      "___grecaptcha_cfg = { fns: [hear('queued'), 'no function'] };",
    );
    await hears('queued');
    const tokens = await run<string[]>(
      "Promise.all(['login', 'shop/buy'].map((action) => grecaptcha.enterprise.execute('site-1', { action })))",
    );
    expect(tokens).toEqual([TOKEN, TOKEN]);
    expect(tokens[0]).not.toBe(tokens[1]);
    expect(new Set(challenges().map(({ action }) => action))).toEqual(new Set(['login', 'shop/buy']));
    expect(await run('document.querySelectorAll("gatehouse-widget, textarea").length')).toBe(0);
  });

  test.each(['grecaptcha', 'grecaptcha.enterprise'])(
    'renders an invisible widget without a place, and %s.execute finds it by its number',
    async (api) => {
      await open(EXPLICIT, "ready = hear('ready');");
      await hears('ready');
      const id = await run<number>(`${api}.render({ sitekey: 'site-1', badge: 'bottomleft', size: 'invisible' })`);
      const token = await run<string>(`${api}.execute(${id}, { action: 'buy' })`);
      expect([typeof id, token]).toEqual(['number', TOKEN]);
      expect(await run(`${api}.getResponse(${id})`)).toBe(token);
      expect(challenges()[0]).toMatchObject({ siteKey: 'site-1', action: 'buy' });
      expect(await page.visitor.page.getByRole('checkbox').count()).toBe(0);
      await expect(run(`${api}.render({ badge: 'bottomleft' })`)).rejects.toThrow(
        'Missing required parameters: sitekey',
      );
    },
  );

  test('rejects a call of version 3 that the service refuses', async () => {
    server.overrides.push(() => ({ status: 400, body: { error: { key: 'API.SITE_KEY_NOT_REGISTERED' } } }));
    await open(
      '<script src="/recaptcha/api.js?render=site-1&amp;onload=ready" defer></script>',
      "ready = hear('ready');",
    );
    await hears('ready');
    expect(await run("grecaptcha.execute('site-1', { action: 'login' }).catch((error) => String(error))")).toContain(
      'API.SITE_KEY_NOT_REGISTERED',
    );
  });

  test('throws for a wrong argument', () =>
    expectRows(
      [
        [
          "grecaptcha.render('nowhere', { sitekey: 'site-1' })",
          'reCAPTCHA placeholder element must be an element or id',
        ],
        ["grecaptcha.render('place', { sitekey: 'site-1' })", 'reCAPTCHA has already been rendered in this element'],
        ["grecaptcha.render('marked', { theme: 'dark' })", 'Missing required parameters: sitekey'],
        ['grecaptcha.reset(7)', 'There is no such widget'],
      ],
      async ([source, message]) => {
        await open(
          EXPLICIT + '<div id="place"></div><div id="marked" data-sitekey="site-1"></div>',
          "ready = () => { grecaptcha.render('place', { sitekey: 'site-1' }); hear('ready')(); };",
        );
        await hears('ready');
        await expect(run(source)).rejects.toThrow(message);
      },
    ));

  test('reads attributes for render only where the page asks for it', async () => {
    await open(
      EXPLICIT + '<div id="marked" data-sitekey="site-1"></div>',
      "ready = () => hear('id')(grecaptcha.render('marked', {}, true));",
    );
    await hears('id', 0);
  });
});

describe('Procaptcha’s API', () => {
  test('renders marked places for a module, with the field only while there is a token', async () => {
    await open(
      '<script type="module" src="/procaptcha/js/procaptcha.bundle.js" async defer></script>' +
        form('<div class="procaptcha" data-sitekey="site-1" data-callback="onToken"></div>'),
      "onToken = hear('token');",
    );
    await page.visitor.page.getByRole('checkbox').waitFor();
    expect(await fields('procaptcha-response')).toEqual([]);
    await press();
    await hears('token', TOKEN);
    expect(await fields('procaptcha-response')).toEqual([await run('procaptcha.getResponse()')]);
    await run('procaptcha.reset()');
    expect(await fields('procaptcha-response')).toEqual([]);
  });

  test('has its functions as exports of the module, for a page that imports them', async () => {
    server.pages.set('/app.js', {
      body: `import { render, execute, reset, remove } from '/procaptcha/js/procaptcha.bundle.js?render=explicit';
        const id = render(document.getElementById('place'), { siteKey: 'site-1', callback: hear('token') });
        Object.assign(window, { execute: () => execute(id), reset: () => reset(id), remove: () => remove(id) });
        hear('module')(procaptcha.render === render);`,
      headers: { 'content-type': 'text/javascript' },
    });
    await open('<script type="module" src="/app.js"></script>' + form('<div id="place"></div>'));
    await hears('module', true);
    await run('execute()');
    await hears('token', TOKEN);
    expect(await fields('procaptcha-response')).toEqual([TOKEN]);
    await run('reset()');
    expect(await fields('procaptcha-response')).toEqual([]);
    await run('remove()');
    expect(await run('document.querySelectorAll("gatehouse-widget").length')).toBe(0);
  });

  test('runs as a classic script too', async () => {
    await open(
      '<script src="/procaptcha/js/procaptcha.bundle.js" defer></script>' +
        form('<div class="procaptcha" data-sitekey="site-1" data-callback="onToken"></div>'),
      "onToken = hear('token');",
    );
    await press();
    await hears('token', TOKEN);
  });

  test('of a module asks its own host on a page that keeps the original’s script, until consent', async () => {
    await open(
      '<script type="text/plain" src="https://original.test/procaptcha/js/procaptcha.bundle.js"></script>' +
        '<script src="/procaptcha/js/procaptcha.bundle.js" type="module"></script>' +
        form('<div class="procaptcha" data-sitekey="site-1" data-callback="onToken"></div>'),
      "onToken = hear('token');",
    );
    await press();
    await hears('token', TOKEN);
  });

  /** As the plugin for WordPress does: elements of its own, one object for all of them, and functions without `this`. */
  test('renders places of a plugin’s own elements with one object that the plugin changes', async () => {
    const place = (name: string): string =>
      form(
        `<shop-captcha data-name="${name}"><div class="shop-captcha"></div></shop-captcha><input type="hidden" class="copy">`,
      );
    await open(
      `<script src="/procaptcha/js/procaptcha.bundle.js" type="module" async defer></script>${place('comment')}${place('login')}`,
      `captchaAttributes = { captchaType: 'frictionless', siteKey: 'site-1', theme: 'dark' };
       addEventListener('load', () => customElements.define('shop-captcha', class extends HTMLElement {
         connectedCallback() {
           const { render } = procaptcha;
           const { name } = this.dataset;
           render(this.querySelector('.shop-captcha'), Object.assign(captchaAttributes, { callback: (token) => {
             this.closest('form').querySelector('.copy').value = token;
             hear('token')(name);
           } }));
         }
       }));`,
    );
    const boxes = page.visitor.page.getByRole('checkbox');
    await expect.poll(() => boxes.count()).toBe(2);
    for (const [index, name] of ['comment', 'login'].entries()) {
      await boxes.nth(index).click();
      await hears('token', name);
      expect(
        await run(
          `document.forms[${index}].querySelector('[name=procaptcha-response]').value === document.forms[${index}].querySelector('.copy').value`,
        ),
      ).toBe(true);
    }
    expect(challenges().map(({ siteKey }) => siteKey)).toEqual(['site-1', 'site-1']);
    expect((await heard()).length).toBe(2);
  });
});
