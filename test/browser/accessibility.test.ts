/**
 * axe-core (WCAG 2.2 AA and its best practices) checks every page and widget state that a visitor can see, in light and
 * dark. The other files test what it cannot check: keyboard use and what a screen reader gets.
 */
import { describe, expect, test } from 'vitest';
import {
  renderBlockPage,
  renderHelpPage,
  renderMessagePage,
  type MessageKind,
} from '../../src/edge/answer/pages/message-page.ts';
import { pageLanguages } from '../../src/locales/pages.generated.ts';
import { type PageInput, pageSecurityHeaders } from '../../src/edge/answer/pages/page-layout.ts';
import { pageStyle } from '../../src/branding/page-style.ts';
import { accessibilityFaults, faultsInBothThemes, faultsWithoutScript } from '../support/axe.ts';
import { expectRows } from '../support/rows.ts';
import { useVisitor } from '../support/visitor.ts';
import { useWidgetServer } from './widget-server.ts';

const server = useWidgetServer();
const visitor = useVisitor();
const NONCE = 'bm9uY2Utbm9uY2Utbm9uY2U';
const refusal = () => ({ status: 400, body: {} });
const unknownSite = () => ({ status: 400, body: { error: { key: 'API.SITE_KEY_NOT_REGISTERED' } } });

const faults = (): Promise<string[]> => faultsInBothThemes(visitor.page);
/** A colour that is still changing has no contrast that axe could measure. */
const STILL = { reducedMotion: 'reduce' } as const;

async function openPage(body: string, headers: Record<string, string> = {}): Promise<void> {
  server.pages.set('/page', { body, headers });
  await visitor.page.goto(`${server.url}/page`);
}

test('axe-core finds a fault, even under a strict CSP and in a shadow root', async () => {
  await openPage(
    '<!doctype html><html lang="en"><title>bad</title><main><h1>Bad</h1><button></button><p id="host"></p></main>',
  );
  await visitor.page.evaluate(() => {
    const text = document.createElement('span');
    text.textContent = 'hardly seen';
    text.style.color = '#eee';
    document.querySelector('#host')!.attachShadow({ mode: 'open' }).append(text);
  });
  const found = await accessibilityFaults(visitor.page);
  expect(found.map((fault) => fault.split(' ')[0])).toEqual(['button-name', 'color-contrast']);
});

test('a text that only one theme makes unreadable is a fault of that theme', async () => {
  await openPage('<!doctype html><html lang="en"><title>bad</title><main><h1>Bad</h1><p>One</p><p>Two</p></main>');
  await visitor.page.evaluate(() => {
    document.documentElement.style.cssText = 'color-scheme:light dark;background:light-dark(#fff,#111)';
    const colours = ['light-dark(#eee,#eee)', 'light-dark(#222,#222)'];
    document.querySelectorAll('p').forEach((text, place) => (text.style.color = colours[place]!));
    document.querySelector('h1')!.style.color = 'light-dark(#000,#fff)';
  });
  const found = (await faults()).map((fault) => /^(.*) at (.*?"\]):/.exec(fault)!.slice(1).join(' '));
  expect(found).toEqual(['light: color-contrast ["p:nth-child(2)"]', 'dark: color-contrast ["p:nth-child(3)"]']);
});

describe('in both themes, no fault is on', () => {
  describe('the challenge page', () => {
    test('while it solves', async () => {
      await visitor.comesAs(STILL);
      await visitor.context.route('**/__protect/challenge', () => undefined);
      await visitor.page.goto(`${server.url}/protected`);
      await visitor.page.getByRole('progressbar').waitFor();
      expect(await faults()).toEqual([]);
    });

    test.each(['en', 'ar', 'ja'])('after a failure, in %s', async (locale) => {
      await visitor.comesAs({ ...STILL, locale });
      server.overrides.push(refusal);
      await visitor.page.goto(`${server.url}/protected`);
      await visitor.page.locator('main > button').waitFor();
      expect(await faults()).toEqual([]);
    });

    test('without scripts, with a held form', async () => {
      await visitor.comesAs({ javaScriptEnabled: false });
      server.interstitial = {
        noScript: { url: '/no-script', waitSeconds: 60 },
        replay: { url: '/__protect/replay', seal: 'sealed', noScript: { url: '/no-script', waitSeconds: 0 } },
      };
      await visitor.page.goto(`${server.url}/protected`);
      await visitor.page.getByText('Continue without scripts').waitFor();
      const markup = await visitor.page.content();
      for (const colorScheme of ['light', 'dark'] as const) {
        expect(await faultsWithoutScript(markup, { colorScheme })).toEqual([]);
      }
    });

    test('with the colours, name, logo and support address of a brand', async () => {
      await visitor.comesAs(STILL);
      server.overrides.push(refusal);
      server.interstitial = {
        branding: {
          name: 'Shop',
          primaryColor: '#ffee00',
          backgroundColor: '#102030',
          logoUrl: '/logo.png',
          supportUrl: 'https://shop.example/help',
        },
      };
      await visitor.page.goto(`${server.url}/protected`);
      await visitor.page.locator('main > button').waitFor();
      expect(await faults()).toEqual([]);
    });

    test('for a site that the service does not know', async () => {
      await visitor.comesAs(STILL);
      server.overrides.push(unknownSite);
      await visitor.page.goto(`${server.url}/protected`);
      await visitor.page.getByText('Temporarily unavailable').waitFor();
      expect(await faults()).toEqual([]);
    });

    test.each(['image', 'puzzle'] as const)('with the %s task, and with the audio task instead', async (kind) => {
      await visitor.comesAs(STILL);
      server.kind = kind;
      server.interstitial = { branding: { privacyUrl: '/privacy' } };
      await visitor.page.goto(`${server.url}/protected`);
      await visitor.page.getByRole('button', { name: 'Use sound instead' }).waitFor();
      expect(await faults()).toEqual([]);
      await visitor.page.getByRole('button', { name: 'Use sound instead' }).click();
      await visitor.page.getByLabel('Digits').waitFor();
      expect(await faults()).toEqual([]);
    });
  });

  describe('a message page', () => {
    const input: PageInput = {
      nonce: NONCE,
      requestId: '01a209a6-dfc4-7ba8-8d3e-233b91e7b6ba',
      host: 'shop.example',
      assetHashes: {},
      acceptLanguage: 'en',
      languages: pageLanguages,
      style: pageStyle({}),
      branding: {
        name: 'Shop',
        contact: 'help@shop.example',
        supportUrl: 'https://shop.example/help',
        privacyUrl: '/privacy',
      },
    };
    const kinds: MessageKind[] = ['send-again', 'too-large', 'origin-unreachable', 'cookies-off', 'unavailable'];
    const pages: [string, () => string][] = [
      ['blocked', () => renderBlockPage(input)],
      ['help', () => renderHelpPage(input)],
      ...kinds.map((kind): [string, () => string] => [kind, () => renderMessagePage(kind, input)]),
    ];

    test('of any kind', () =>
      expectRows(pages, async ([, render]) => {
        await visitor.comesAs(STILL);
        await openPage(render(), pageSecurityHeaders(NONCE));
        await visitor.page.getByText('01a209a6-dfc4-7ba8-8d3e-233b91e7b6ba').waitFor();
        expect(await faults()).toEqual([]);
      }));
  });

  describe('the widget', () => {
    const openWidget = async (
      attributes = 'start="click"',
      system: { colorScheme?: 'light' | 'dark' } = {},
    ): Promise<void> => {
      await visitor.comesAs({ ...STILL, ...system });
      await openPage(
        `<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>form</title><script src="/__protect/widget.js" defer></script><body><main><h1>Contact</h1><form method="post" action="/submit"><gatehouse-widget sitekey="site-1" ${attributes}></gatehouse-widget></form></main>`,
      );
    };
    const box = () => visitor.page.getByRole('checkbox');

    test('before, while and after it solves', async () => {
      await openWidget();
      await box().waitFor();
      expect(await faults()).toEqual([]);
      let goOn = (): void => undefined;
      await visitor.context.route('**/__protect/challenge', (route) => {
        goOn = () => void route.continue();
      });
      await box().click();
      await visitor.page.getByRole('checkbox', { name: /Verifying|Checking/ }).waitFor();
      expect(await faults()).toEqual([]);
      goOn();
      await visitor.page.getByRole('checkbox', { name: 'Verified' }).waitFor();
      expect(await faults()).toEqual([]);
    });

    test('after a failure', async () => {
      server.overrides.push(refusal);
      await openWidget();
      await box().click();
      await visitor.page.getByRole('checkbox', { name: /Try again/ }).waitFor();
      expect(await faults()).toEqual([]);
    });

    test.each(['image', 'puzzle'] as const)(
      'with the %s task, with the one in sound, and after a mistake',
      async (kind) => {
        server.kind = kind;
        await openWidget();
        await box().click();
        await visitor.page.getByRole('button', { name: 'Use sound instead' }).waitFor();
        expect(await faults()).toEqual([]);
        await visitor.page.getByRole('button', { name: 'Use sound instead' }).click();
        await visitor.page.getByLabel('Digits').fill('12');
        await visitor.page.keyboard.press('Enter');
        await visitor.page.getByText('Please type exactly five digits.').waitFor();
        expect(await faults()).toEqual([]);
        await visitor.page.getByLabel('Digits').fill('11111');
        await visitor.page.keyboard.press('Enter');
        await visitor.page.getByText('That was not right.').waitFor();
        expect(await faults()).toEqual([]);
      },
    );

    test('for a site that the service does not know', async () => {
      server.overrides.push(unknownSite);
      await openWidget();
      await box().click();
      await visitor.page.getByRole('checkbox', { name: 'Verification is not available here' }).waitFor();
      expect(await faults()).toEqual([]);
    });

    test('with a task that waits for the visitor, that says why it is there, and that is replaced', async () => {
      server.kind = 'image';
      server.privacyUrl = '/privacy';
      await openWidget('start="load"');
      await visitor.page.getByRole('checkbox', { name: 'Please solve a short task.' }).waitFor();
      expect(await faults()).toEqual([]);
      await box().click();
      await visitor.page.getByText('Why am I seeing this?').click();
      expect(await faults()).toEqual([]);
      await visitor.context.route('**/__protect/challenge', () => undefined);
      await visitor.page.getByRole('button', { name: 'New task' }).click();
      await visitor.page.locator('.task[aria-busy=true]').waitFor();
      expect(await faults()).toEqual([]);
    });

    test.each([
      ['ar', 'light'],
      ['ja', 'dark'],
    ] as const)(
      'with a task in %s, on a screen of 320 pixels with the system’s own colours, %s',
      async (tag, colorScheme) => {
        server.kind = 'image';
        await openWidget(`start="click" language="${tag}"`, { colorScheme });
        await visitor.page.setViewportSize({ width: 320, height: 640 });
        await visitor.page.emulateMedia({ forcedColors: 'active' });
        await box().click();
        await visitor.page.locator('#instruction').waitFor();
        expect(await accessibilityFaults(visitor.page)).toEqual([]);
      },
    );

    test('without a box, with a task and with a failure', async () => {
      server.kind = 'image';
      await openWidget('size="invisible" start="submit"');
      await visitor.page.evaluate(() => document.querySelector('form')!.requestSubmit());
      await visitor.page.locator('#instruction').waitFor();
      expect(await faults()).toEqual([]);
      server.overrides.push(refusal);
      await visitor.page.getByRole('button', { name: 'Submit' }).click();
      await visitor.page.getByRole('button', { name: 'Try again' }).waitFor();
      expect(await faults()).toEqual([]);
    });
  });

  describe('the dialog for a challenged request of the page’s scripts', () => {
    const openShop = async (): Promise<void> => {
      await openPage(
        '<!doctype html><html lang="en"><title>shop</title><script src="/__protect/protect.js"></script><body><main><h1>Shop</h1></main>',
      );
      await visitor.page.evaluate(() => void fetch('/api/order', { method: 'POST', body: 'one' }));
    };

    test('with a task', async () => {
      await visitor.comesAs(STILL);
      server.kind = 'image';
      await openShop();
      await visitor.page.getByRole('button', { name: 'Use sound instead' }).waitFor();
      expect(await faults()).toEqual([]);
    });

    test('while it solves for long, and after a failure', async () => {
      await visitor.comesAs(STILL);
      let goOn = (): void => undefined;
      server.overrides.push((path) => (path === 'challenge' ? refusal() : null));
      await visitor.context.route('**/__protect/challenge', (route) => {
        goOn = () => void route.continue();
      });
      await openShop();
      await visitor.page.getByRole('dialog').getByText('Verifying…').waitFor();
      expect(await faults()).toEqual([]);
      goOn();
      await visitor.page.getByRole('button', { name: 'Try again' }).waitFor();
      expect(await faults()).toEqual([]);
    });
  });
});
