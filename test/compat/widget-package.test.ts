/**
 * `@gatehouse/widget` as it is published: packed, installed, bundled with each framework, and used in Chromium on a page
 * with a strict CSP, as its README says.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { readmeExample, useInstalled } from '../support/packed-packages.ts';
import { useVisitor } from '../support/visitor.ts';
import { useWidgetServer } from '../browser/widget-server.ts';
import { apps } from './wrappers/apps.ts';
import { bundleApp } from './wrappers/bundle-app.ts';

const server = useWidgetServer();
const visitor = useVisitor();
const folder = useInstalled(['widget'], ['react', 'react-dom', 'vue', 'svelte']);

/** The example as it is, at this server's addresses. */
const example = (file: string): string =>
  readmeExample('widget', file)
    .replaceAll('https://gatehouse.example.com', '/__protect')
    .replaceAll('/login', '/submit');

async function servePage(path: string, entry: string, body = '<div id="app"></div>'): Promise<void> {
  const script = await bundleApp(folder(), entry, 'browser');
  server.pages.set(`${path}.js`, { body: script, headers: { 'content-type': 'text/javascript' } });
  const page = `<!doctype html><html lang="en"><title>app</title><body>${body}<script type="module" src="${path}.js"></script></body></html>`;
  server.pages.set(path, { body: page });
}

/** What the panels of all frameworks have, see `wrappers/apps.ts`. */
interface Panel {
  events: string[];
  show(shown: boolean): unknown;
  set(settings: Record<string, string | undefined>): unknown;
  execute(): Promise<string>;
  reset(): void;
  retry(): void;
  response(): string;
}
declare const panel: Panel;

const widgets = () => visitor.page.locator('gatehouse-widget');

describe.each(apps)(
  'the wrapper for $framework',
  ({ framework, files, example: file, form, panel: panelEntry, server: serverEntry }) => {
    const paths = { form: `/${framework}-form`, panel: `/${framework}-panel` };
    beforeAll(async () => {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder(), name), text);
      writeFileSync(join(folder(), file), example(file));
      await servePage(paths.form, form);
      await servePage(paths.panel, panelEntry);
    });
    const openPanel = async (): Promise<void> => {
      await visitor.page.goto(server.url + paths.panel);
      await widgets().waitFor();
    };

    test('sends the form of the README with a token', async () => {
      await visitor.page.goto(server.url + paths.form);
      await visitor.page.getByLabel('Name').fill('Ada');
      await visitor.page.getByRole('button').click();
      await visitor.page.waitForURL('**/submit');
      const [sent] = server.submitted;
      expect(sent?.get('name')).toBe('Ada');
      expect(JSON.parse(sent?.get('captcha-response') ?? '{}')).toEqual({
        token: expect.stringMatching(/^[\w-]{32}$/),
      });
      expect(server.calls[0]?.body).toMatchObject({ siteKey: 'site_…', action: 'login' });
      expect(visitor.complaints).toEqual([]);
    });

    test('renders on a server what the browser begins with', async () => {
      const path = join(folder(), `${framework}-server.mjs`);
      writeFileSync(path, await bundleApp(folder(), serverEntry, 'server'));
      const { html } = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as { html: string };
      // Frameworks mark places with comments.
      expect(html.replaceAll(/<!--.*?-->/g, '')).toMatch(/<form [^>]+><input [^>]+> ?<div><\/div> ?<button/);
      expect(html).not.toContain('gatehouse-widget');
    });

    test('has one widget however often it is shown and hidden', async () => {
      await openPanel();
      await visitor.page.evaluate(async () => {
        for (const shown of [false, true, false, true]) await panel.show(shown);
      });
      await expect.poll(() => widgets().count()).toBe(1);
      await visitor.page.evaluate(() => panel.show(false));
      expect(await widgets().count()).toBe(0);
    });

    test('that is hidden before its script has come leaves nothing behind', async () => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await visitor.page.route('**/widget.js*', async (route) => {
        await held;
        await route.continue();
      });
      // The page counts as loaded only when the script has come.
      await visitor.page.goto(server.url + paths.panel, { waitUntil: 'commit' });
      await visitor.page.waitForFunction(() => 'panel' in globalThis);
      await visitor.page.evaluate(() => panel.show(false));
      release();
      await visitor.page.waitForFunction(() => customElements.get('gatehouse-widget') !== undefined);
      await visitor.page.evaluate(() => panel.show(true));
      await widgets().waitFor();
      expect(await widgets().count()).toBe(1);
      expect(await visitor.page.evaluate(() => panel.events)).toEqual([]);
    });

    test('solves by its handle, tells the token, and drops it', async () => {
      await openPanel();
      const token = await visitor.page.evaluate(() => panel.execute());
      expect(token).toMatch(/^[\w-]{32}$/);
      expect(await visitor.page.evaluate(() => [panel.response(), panel.events.join()])).toEqual([token, 'verify']);
      await visitor.page.evaluate(() => panel.reset());
      expect(await visitor.page.evaluate(() => [panel.response(), panel.events.join()])).toEqual(['', 'verify,reset']);
    });

    test('applies changed settings to the same widget, and drops the token of another site', async () => {
      await openPanel();
      await visitor.page.evaluate(() => panel.execute());
      const element = await widgets().elementHandle();
      await visitor.page.evaluate(() => panel.set({ theme: 'dark', action: 'signup' }));
      expect(
        await element?.evaluate((widget) => [
          widget.isConnected,
          widget.getAttribute('theme'),
          widget.getAttribute('action'),
        ]),
      ).toEqual([true, 'dark', 'signup']);
      expect(await visitor.page.evaluate(() => panel.response())).not.toBe('');
      await visitor.page.evaluate(() => panel.set({ theme: undefined, sitekey: 'site-2' }));
      expect(await element?.evaluate((widget) => [widget.isConnected, widget.hasAttribute('theme')])).toEqual([
        true,
        false,
      ]);
      expect(await visitor.page.evaluate(() => panel.response())).toBe('');
    });

    test('reports a script that does not load, and loads it again when asked', async () => {
      await visitor.page.route('**/widget.js*', (route) => route.abort(), { times: 1 });
      await visitor.page.goto(server.url + paths.panel);
      await visitor.page.waitForFunction(() => 'panel' in globalThis && panel.events.length > 0);
      const [reported = ''] = await visitor.page.evaluate(() => panel.events);
      expect(reported).toContain('error network The widget did not load from');
      await visitor.page.evaluate(() => panel.retry());
      await widgets().waitFor();
      expect(await visitor.page.evaluate(() => panel.execute())).toMatch(/^[\w-]{32}$/);
    });
  },
);

describe('without a framework', () => {
  test('the example of the README sends the token in a header', async () => {
    writeFileSync(join(folder(), 'plain.js'), example('plain.js'));
    await servePage('/plain', 'plain.js', '<div id="captcha"></div><button id="send">Send</button>');
    await visitor.page.goto(`${server.url}/plain`);
    const sent = visitor.page.waitForRequest('**/submit');
    await visitor.page.getByRole('button').click();
    expect((await sent).headers()['x-captcha-response']).toMatch(/^[\w-]{32}$/);
    expect(visitor.complaints).toEqual([]);
  });

  test('asks the service of serviceUrl also where a script tag of another one has defined the element', async () => {
    writeFileSync(
      join(folder(), 'beside.js'),
      `import { mountWidget } from '@gatehouse/widget';
const widget = mountWidget(document.body, { serviceUrl: '/mine/', sitekey: 'site-1' });
window.first = widget.execute().catch(() => undefined);
window.second = window.first.then(() => {
  widget.update({ sitekey: 'site-1', api: '/__protect' });
  return widget.execute();
});`,
    );
    const asked = visitor.page.waitForRequest('**/challenge');
    await servePage('/beside', 'beside.js', '<script src="/__protect/widget.js"></script>');
    await visitor.page.goto(`${server.url}/beside`);
    expect((await asked).url()).toBe(`${server.url}/mine/captcha/v1/challenge`);
    const token = await visitor.page.evaluate(() => (globalThis as unknown as { second: Promise<string> }).second);
    expect(token).toMatch(/^[\w-]{32}$/);
  });

  test('a page of something else in the place of the script is an error', async () => {
    writeFileSync(
      join(folder(), 'lost.js'),
      `import { loadWidget } from '@gatehouse/widget';
window.tries = (async () => {
  const attempt = (serviceUrl) => loadWidget({ serviceUrl }).then(() => 'loaded', (error) => error.message);
  return [await attempt('/nowhere'), await attempt('javascript:alert(1)//'), await attempt('/__protect'), await attempt('/other')];
})();`,
    );
    await servePage('/lost', 'lost.js');
    server.pages.set('/nowhere/widget.js', {
      body: '<h1>Welcome</h1>',
      headers: { 'content-type': 'text/javascript' },
    });
    await visitor.page.goto(`${server.url}/lost`);
    const tries = await visitor.page.evaluate(() => (globalThis as unknown as { tries: Promise<string[]> }).tries);
    expect(tries).toEqual([
      expect.stringContaining('did not load from'),
      'serviceUrl must begin with https://.',
      'loaded',
      expect.stringContaining('already uses the widget'),
    ]);
  });
});
