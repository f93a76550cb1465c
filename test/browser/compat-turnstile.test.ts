/** `window.turnstile` on pages under a strict CSP, and what every compatibility script has in common. */
import { describe, expect, test } from 'vitest';
import { expectRows } from '../support/rows.ts';
import { TOKEN, useCompatPage } from './compat-page.ts';

const SCRIPT = '<script src="/turnstile/v0/api.js" async defer></script>';
const EXPLICIT = '<script src="/turnstile/v0/api.js?render=explicit&amp;onload=ready" defer></script>';
const place = (attributes = ''): string =>
  `<form method="post" action="/submit"><div id="place" class="cf-turnstile" data-sitekey="site-1" ${attributes}></div><button>Send</button></form>`;

const page = useCompatPage();
const { server, open, run, heard, hears, fields, verified } = page;

const solves = (): number => server.calls.filter(({ path }) => path === 'solution').length;
const refusal = (key: string) => () => ({ status: 400, body: { error: { code: 400, message: 'no', key } } });

describe('a marked place', () => {
  test('gets a widget that starts by itself, and its form sends the bare token under the name of the original', async () => {
    await open(
      SCRIPT + place('data-action="login" data-cdata="order-7" data-callback="onToken"'),
      "onToken = hear('token');",
    );
    await hears('token', TOKEN);
    expect(server.calls[0]?.body).toMatchObject({ siteKey: 'site-1', action: 'login', cdata: 'order-7' });
    const [token] = await fields('cf-turnstile-response');
    expect(await run('turnstile.getResponse()')).toBe(token);
    await page.visitor.page.getByRole('button', { name: 'Send' }).click();
    await page.visitor.page.waitForURL('**/submit');
    expect([...(server.submitted[0]?.keys() ?? [])]).toEqual(['cf-turnstile-response']);
    expect(server.submitted[0]?.get('cf-turnstile-response')).toBe(token);
  });

  test('has an empty field before there is a token, and its form is not held back', async () => {
    await open(SCRIPT + place('data-execution="execute"'));
    await expect.poll(() => fields('cf-turnstile-response')).toEqual(['']);
    expect(await run('turnstile.getResponse()')).toBeUndefined();
    await page.visitor.page.getByRole('button', { name: 'Send' }).click();
    await page.visitor.page.waitForURL('**/submit');
    expect(server.calls).toEqual([]);
  });

  test.each([
    ['data-response-field-name="a&quot;]&gt;<b>x"', 'a"]><b>x', 1],
    ['data-response-field="false"', 'cf-turnstile-response', 0],
  ])('with %s has the field %s %i times', async (attribute, name, times) => {
    await open(SCRIPT + place(attribute));
    await verified();
    expect(await fields(name)).toHaveLength(times);
    expect(await run('document.forms[0].querySelectorAll("b").length')).toBe(0);
  });

  test('calls nothing for a callback name that names no function of the page', () =>
    expectRows(
      ['nowhere', 'document', '__proto__', 'constructor.constructor', '', 'hear("x")', 'javascript:hear("x")()'],
      async (name) => {
        const attribute = name.replaceAll('"', '&quot;');
        await open(SCRIPT + place(`data-callback="${attribute}" data-error-callback="${attribute}"`));
        await verified();
        expect(await heard()).toEqual([]);
      },
    ));

  test('is served with compat=recaptcha for pages of reCAPTCHA', async () => {
    const markup = place().replace('cf-turnstile', 'g-recaptcha');
    await open('<script src="/turnstile/v0/api.js?compat=recaptcha" defer></script>' + markup);
    await verified();
    expect(await fields('g-recaptcha-response')).toEqual([await run('grecaptcha.getResponse()')]);
  });

  test('works with a nonce alone, which later scripts get too', async () => {
    const csp =
      "default-src 'none'; script-src 'nonce-own'; worker-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types gatehouse";
    const nonced = SCRIPT.replace('<script', '<script nonce="own"') + place('data-language="de"');
    server.pages.set('/nonced', {
      body: `<!doctype html><html lang="en"><title>page</title>${nonced}`,
      headers: { 'content-security-policy': csp },
    });
    await page.visitor.page.goto(`${server.url}/nonced`);
    await page.visitor.page.getByRole('checkbox', { name: 'Geprüft' }).waitFor();
  });
});

describe('a script that a page loads', () => {
  test('twice keeps its API and its widgets', async () => {
    await open(SCRIPT + place(), "onToken = hear('token');");
    await verified();
    await run(
      `first = turnstile; new Promise((done) => {
        again = hear('again');
        const script = document.createElement('script');
        script.src = trustedTypes.createPolicy('page', { createScriptURL: (url) => url }).createScriptURL('/turnstile/v0/api.js?onload=again');
        script.onload = done;
        document.head.append(script);
      })`,
    );
    await hears('again');
    expect(await run('first === turnstile && turnstile.getResponse("#place")')).toMatch(/^[\w-]{32}$/);
    expect(await run('document.querySelectorAll("gatehouse-widget").length')).toBe(1);
    expect(solves()).toBe(1);
  });

  test('beside those of other products and the widget’s own works as each of them does alone', async () => {
    const scripts = [
      '/turnstile/v0/api.js',
      '/hcaptcha/1/api.js',
      '/recaptcha/api.js',
      '/procaptcha/js/procaptcha.bundle.js',
      '/widget.js',
    ];
    const classes = ['cf-turnstile', 'h-captcha', 'g-recaptcha', 'procaptcha', 'gatehouse-captcha'];
    const places = classes.map((name) => `<div class="${name}" data-sitekey="${name}"></div>`).join('');
    await open(`${scripts.map((src) => `<script src="${src}" defer></script>`).join('')}<form>${places}</form>`);
    const boxes = page.visitor.page.getByRole('checkbox');
    await expect.poll(() => boxes.count()).toBe(5);
    for (const box of await boxes.all()) await box.click();
    await expect.poll(() => page.visitor.page.getByRole('checkbox', { name: 'Verified' }).count()).toBe(5);
    const siteKeys = server.calls.filter(({ path }) => path === 'challenge').map(({ body }) => body['siteKey']);
    expect(siteKeys).toHaveLength(5);
    expect(new Set(siteKeys)).toEqual(new Set(classes));
    expect((await fields('captcha-response')).length).toBe(1);
    expect(await fields('procaptcha-response')).toEqual([await run('procaptcha.getResponse()')]);
    const shared = await fields('g-recaptcha-response');
    expect(shared).toEqual([await run('hcaptcha.getResponse()'), await run('grecaptcha.getResponse()')]);
    expect(await run('grecaptcha === hcaptcha || grecaptcha === turnstile')).toBe(false);
    expect(await run('gatehouse.getResponse(".gatehouse-captcha")')).toMatch(/^[\w-]{32}$/);
  });

  test('calls its onload function after its own load event, for which loaders wait', async () => {
    await open(
      '<div id="place"></div>',
      `{ const script = document.createElement('script');
        script.src = trustedTypes.createPolicy('page', { createScriptURL: (url) => url }).createScriptURL('/turnstile/v0/api.js?onload=ready&render=explicit');
        script.onload = () => { hear('load')(); ready = hear('ready'); };
        document.head.append(script); }`,
    );
    await hears('ready');
    expect(await heard()).toEqual([['load'], ['ready']]);
  });
});

test('a script calls an onload function that exists only when the page has loaded', async () => {
  await open(EXPLICIT, "addEventListener('load', () => { ready = hear('ready'); });");
  await hears('ready');
});

describe('a widget by script', () => {
  const options =
    "{ sitekey: 'site-1', callback: hear('token'), 'error-callback': hear('error'), 'expired-callback': hear('expired') }";

  test('is known by its id, its place and its selector, and is gone after remove', async () => {
    await open(EXPLICIT + place(), `ready = () => { id = turnstile.render('#place', ${options}); };`);
    await hears('token', TOKEN);
    expect(
      await run(
        '[id, document.getElementById("place"), "#place", undefined].map((one) => turnstile.getResponse(one)).every(Boolean)',
      ),
    ).toBe(true);
    await run('turnstile.remove(id)');
    expect(await run('document.getElementById("place").childElementCount')).toBe(0);
    expect(await run('turnstile.getResponse(id)')).toBeUndefined();
    expect(await run('typeof turnstile.render("#place", { sitekey: "site-1" })')).toBe('string');
  });

  test('throws for a wrong argument', () =>
    expectRows(
      [
        ["turnstile.render('#nowhere', { sitekey: 'site-1' })", /no such element/],
        ["turnstile.render(':::', { sitekey: 'site-1' })", /no such element/],
        ['turnstile.render(null, { sitekey: "site-1" })', /no such element/],
        ["turnstile.render('#other', {})", /sitekey/],
        ["turnstile.render('#other', { sitekey: {} })", /sitekey/],
        ["turnstile.reset('nowhere')", /no such widget/],
        ["turnstile.remove('nowhere')", /no such widget/],
      ],
      async ([source, message]) => {
        await open(`${EXPLICIT}<div id="other"></div>`, "ready = hear('ready');");
        await hears('ready');
        await expect(run(source)).rejects.toThrow(message);
      },
    ));

  test('rendered twice into one place is one widget, as for React’s strict mode', async () => {
    await open(
      EXPLICIT + place(),
      `ready = () => { ids = [turnstile.render('#place', ${options}), turnstile.render('#place', ${options})]; };`,
    );
    await hears('token', TOKEN);
    expect(await run('ids[0] === ids[1]')).toBe(true);
    expect(solves()).toBe(1);
  });

  test('whose place leaves the page while it solves calls nothing, and works again when it comes back', async () => {
    await open(
      EXPLICIT + place(),
      `ready = () => { const place = document.getElementById('place'); id = turnstile.render(place, ${options});
        place.remove(); back = () => document.forms[0].prepend(place); hear('removed')(); };`,
    );
    await hears('removed');
    await expect.poll(() => run('document.querySelectorAll("gatehouse-widget").length')).toBe(0);
    expect(await heard()).toEqual([['removed']]);
    await run('back()');
    await hears('token', TOKEN);
    expect(await fields('cf-turnstile-response')).toEqual([await run('turnstile.getResponse(id)')]);
  });

  test('expires, empties its field, and gets another token after reset', async () => {
    server.tokenLifetimeMs = 600;
    const never = options.replace('{', "{ 'refresh-expired': 'never',");
    await open(EXPLICIT + place(), `ready = () => { id = turnstile.render('#place', ${never}); };`);
    await hears('expired');
    expect(await run('turnstile.isExpired(id)')).toBe(true);
    expect(await fields('cf-turnstile-response')).toEqual(['']);
    expect(solves()).toBe(1);
    server.tokenLifetimeMs = 60_000;
    await run('turnstile.reset(id)');
    await expect.poll(solves).toBe(2);
    await expect.poll(() => fields('cf-turnstile-response')).toEqual([TOKEN]);
    expect(await run('turnstile.isExpired(id)')).toBe(false);
  });

  test('is renewed by itself, and calls back with each token, unless the page asks for none', async () => {
    server.tokenLifetimeMs = 60_000;
    const { clock } = page.visitor.page;
    await clock.install({ time: 0 });
    await clock.pauseAt(1000);
    await open(EXPLICIT + place(), `ready = () => turnstile.render('#place', ${options});`);
    const tokens = async () => (await heard()).filter(([name]) => name === 'token').length;
    await clock.runFor(100);
    await expect.poll(tokens).toBe(1);
    // A renewal begins after four fifths of the lifetime, and has as long as it needs while the page's clock stands still.
    await clock.runFor(48_000);
    await expect.poll(tokens).toBe(2);
    expect((await heard()).filter(([name]) => name === 'expired')).toEqual([]);
  });

  test('starts again once when a visitor comes back after it expired, and not when they leave', async () => {
    server.tokenLifetimeMs = 600;
    const look =
      "const look = (hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); document.dispatchEvent(new Event('visibilitychange')); };";
    await open(EXPLICIT + place(), `${look} ready = () => turnstile.render('#place', ${options});`);
    await run('look(true)');
    await hears('expired');
    // Timers of the same delay run in their order, so a start would be heard.
    const starts = async (source: string): Promise<number> => {
      await run(`${source}; new Promise((done) => setTimeout(done))`);
      return (await heard()).filter(([name]) => name === 'start').length;
    };
    await run("void (document.querySelector('gatehouse-widget').begin = hear('start'))");
    expect(await starts('look(true)')).toBe(0);
    expect(await starts('look(false)')).toBe(1);
    expect(await starts("document.dispatchEvent(new Event('pointerdown'))")).toBe(1);
    expect(await starts("document.dispatchEvent(new Event('keydown'))")).toBe(1);
  });

  test('of execution execute starts when it is asked, and is rendered by execute where there is none', async () => {
    const later = options.replace('{', "{ execution: 'execute', appearance: 'execute',");
    await open(EXPLICIT + place(), `ready = () => turnstile.render('#place', ${later});`);
    const box = page.visitor.page.locator('gatehouse-widget');
    await box.waitFor({ state: 'attached' });
    expect(await box.isVisible()).toBe(false);
    await run("turnstile.execute('#place')");
    await hears('token', TOKEN);
    expect(await box.isVisible()).toBe(true);
    await run("turnstile.remove(); turnstile.execute('#place', { sitekey: 'site-2' })");
    await expect
      .poll(() => server.calls.at(-1)?.body['siteKey'] ?? server.calls.at(-2)?.body['siteKey'])
      .toBe('site-2');
  });

  test('of appearance interaction-only shows itself when a task waits for the visitor', async () => {
    server.kind = 'puzzle';
    const shy = options.replace(
      '{',
      "{ appearance: 'interaction-only', 'before-interactive-callback': hear('before'), 'after-interactive-callback': hear('after'),",
    );
    await open(EXPLICIT + place(), `ready = () => turnstile.render('#place', ${shy});`);
    const box = page.visitor.page.locator('gatehouse-widget');
    await box.waitFor({ state: 'attached' });
    await hears('before');
    expect(await box.isVisible()).toBe(true);
    await run('turnstile.reset()');
    await hears('after');
  });
});

describe('a widget of size invisible', () => {
  test('is not seen, and shows a task without a click, because there is no box', async () => {
    server.kind = 'puzzle';
    await open(
      SCRIPT + place('data-size="invisible" data-before-interactive-callback="before"'),
      "before = hear('before');",
    );
    await page.visitor.page.getByRole('dialog').waitFor();
    await hears('before');
    expect(await page.visitor.page.locator('gatehouse-widget').isVisible()).toBe(false);
  });
});

describe('an error', () => {
  const OPTIONS =
    "{ sitekey: 'site-1', retry: 'never', 'error-callback': (code) => { hear('error')(code); return true; } }";

  test('reaches the page as Turnstile’s number', () =>
    expectRows(
      [
        ['API.SITE_KEY_NOT_REGISTERED', '110100'],
        ['API.UNAUTHORIZED_ORIGIN_URL', '110200'],
        ['API.INVALID_BODY', '110420'],
        ['API.ACCESS_POLICY_BLOCK', '600010'],
      ],
      async ([key, number]) => {
        server.overrides = [refusal(key)];
        await open(EXPLICIT + place(), `ready = () => turnstile.render('#place', ${OPTIONS});`);
        await hears('error', number);
        expect(await fields('cf-turnstile-response')).toEqual(['']);
      },
    ));

  test('is followed by another try after the interval, but not where the setup is wrong', async () => {
    const patient = OPTIONS.replace("retry: 'never'", "'retry-interval': 1");
    server.overrides.push(refusal('API.ACCESS_POLICY_BLOCK'));
    await open(EXPLICIT + place(), `ready = () => turnstile.render('#place', ${patient});`);
    await hears('error', '600010');
    await verified();
    server.overrides.push(refusal('API.SITE_KEY_NOT_REGISTERED'));
    await run('turnstile.reset()');
    await hears('error', '110100');
    expect((await heard()).length).toBe(2);
  });

  test('of a page that resets in its callback does not become a flood of requests', async () => {
    for (let number = 0; number < 50; number++) server.overrides.push(refusal('API.ACCESS_POLICY_BLOCK'));
    const { clock } = page.visitor.page;
    await clock.install({ time: 0 });
    await clock.pauseAt(1000);
    const flood = OPTIONS.replace("hear('error')(code)", "hear('error')(code); turnstile.reset()");
    await open(EXPLICIT + place(), `ready = () => turnstile.render('#place', ${flood});`);
    await clock.runFor(100);
    await expect.poll(() => server.calls.length).toBe(1);
    for (const [waitMs, calls] of [
      [900, 1],
      [200, 2],
      [2900, 2],
      [200, 3],
    ] as const) {
      await clock.runFor(waitMs);
      await expect.poll(() => server.calls.length).toBe(calls);
      await expect.poll(async () => (await heard()).length).toBe(calls);
    }
  });
});
