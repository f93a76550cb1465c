/** The gate's pages as strings: everything escaped, nothing loaded from other hosts, small. */
import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { html } from 'hono/html';
import { describe, expect, test } from 'vitest';
import {
  renderBlockPage,
  renderHelpPage,
  renderMessagePage,
  type MessageKind,
} from '../../../src/edge/answer/pages/message-page.ts';
import { renderChallengePage, type ChallengePageInput } from '../../../src/edge/answer/pages/challenge-page.ts';
import { pageLanguages } from '../../../src/locales/pages.generated.ts';
import { htmlText, pageSecurityHeaders, type PageInput } from '../../../src/edge/answer/pages/page-layout.ts';
import { pageStyle } from '../../../src/branding/page-style.ts';
import { buildClient } from '../../../scripts/build-client.ts';
import { expectRows } from '../../support/rows.ts';

const NONCE = 'bm9uY2Utbm9uY2Utbm9uY2U';
const base: PageInput = {
  nonce: NONCE,
  requestId: 'req-1',
  acceptLanguage: 'en',
  languages: pageLanguages,
  branding: {},
  style: pageStyle({}),
  host: 'shop.example',
  assetHashes: { 'interstitial.js': 'abc123', 'copy.js': 'def456' },
};
const challenge: ChallengePageInput = {
  ...base,
  siteKey: 'site-1',
  returnTo: '/a?b=1',
};
const EVIL = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`;

describe('escaping', () => {
  test('every value from outside stays text', () => {
    const page = renderChallengePage({
      ...challenge,
      requestId: EVIL,
      siteKey: EVIL,
      returnTo: EVIL,
      action: EVIL,
      branding: {
        name: EVIL,
        title: EVIL,
        message: EVIL,
        logoUrl: EVIL,
        supportUrl: EVIL,
        contact: EVIL,
        primaryColor: EVIL,
      },
      host: EVIL,
      replay: { url: EVIL, seal: EVIL, noScript: { url: EVIL, waitSeconds: 5 } },
      noScript: { url: EVIL, waitSeconds: 5 },
    });
    expect(page).not.toContain('<script>alert');
    expect(page).not.toContain('<img src=x');
    expect(page.match(/<script/g)).toHaveLength(1);
  });

  test('no text adds or removes a tag', () => {
    const filled = (text: string): string =>
      renderChallengePage({
        ...challenge,
        requestId: text,
        siteKey: text,
        returnTo: text,
        branding: { name: text, title: text, message: text, supportUrl: text, contact: text },
        host: `h${text}`,
        replay: { url: text, seal: text, noScript: null },
      });
    const tags = (page: string): number => page.split('<').length;
    const plain = tags(filled('plain'));
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '=', ' ', 'a', '/', '`', '\\', '\u2028') }),
        (text) => {
          expect(tags(filled(text))).toBe(plain);
        },
      ),
    );
  });

  test('an html template escapes text, keeps nested templates and drops null', () => {
    expect(htmlText(html`<p>${'<&">'}${html`<b>${"'"}</b>`}${null}${[html`1`, html`2`]}</p>`)).toBe(
      '<p>&lt;&amp;&quot;&gt;<b>&#39;</b>12</p>',
    );
  });

  test('a template with a value that is not there yet is no page', () => {
    expect(() => htmlText(html`<p>${Promise.resolve('later')}</p>`)).toThrow('waits');
  });

  test('an invalid colour does not reach the style sheet', () => {
    expect(pageStyle({ primaryColor: 'red;}body{display:none' })).not.toContain('display:none}');
  });
});

test('an Arabic page is marked as Arabic and runs from right to left', () => {
  expect(renderBlockPage({ ...base, acceptLanguage: 'ar-EG' })).toContain('<html lang="ar" dir="rtl"');
});

describe('the block page', () => {
  const requestId = '01a209a6-dfc4-7ba8-8d3e-233b91e7b6ba';

  test('names the site, says what happened, and shows the reference in a long and a short form', () => {
    const page = renderBlockPage({ ...base, requestId, branding: { name: 'Shop' } });
    expect(page).toContain('<p class="site">Shop · shop.example</p>');
    expect(page).toContain('This site is protected from bots and refused this request.');
    expect(page).toContain('<strong dir="ltr">09a6-b6ba</strong>');
    expect(page).toContain(`<code dir="ltr">${requestId}</code>`);
    expect(page).toContain(`<script nonce="${NONCE}" src="/__protect/copy.js?v=def456" defer>`);
  });

  test('has a contact line only where the operator set one, and a mail begins with the reference', () => {
    const contact = (text: string): string => renderBlockPage({ ...base, requestId, branding: { contact: text } });
    expect(contact('help@shop.example')).toContain(
      `Contact: <a href="mailto:help@shop.example?subject=${requestId}" rel="noopener">help@shop.example</a>`,
    );
    expect(contact('https://shop.example/help')).toContain('href="https://shop.example/help"');
    expect(renderBlockPage(base)).not.toContain('Contact');
  });

  test('shows a reference of another form as it is, without a short form', () => {
    expect(renderBlockPage(base)).not.toContain('<strong');
    expect(renderBlockPage(base)).toContain('<code dir="ltr">req-1</code>');
  });
});

test('the help page runs no script and has texts of its own in every language of the gate’s pages', () => {
  const pages = Object.keys(pageLanguages).map((language) => renderHelpPage({ ...base, acceptLanguage: language }));
  expect(pages.filter((page) => page.includes('<script'))).toEqual([]);
  const bodies = pages.map((page) => /<ul>[\s\S]*<footer>/.exec(page)?.[0]);
  expect(new Set(bodies).size).toBe(Object.keys(pageLanguages).length);
});

describe('the challenge page', () => {
  test('carries the data for its script, and the script’s content hash and nonce', () => {
    const page = renderChallengePage(challenge);
    expect(page).toContain(`<script nonce="${NONCE}" src="/__protect/interstitial.js?v=abc123" defer>`);
    expect(page).toContain('data-sitekey="site-1"');
    expect(page).toContain('data-return-to="/a?b=1"');
    expect(page).toContain('data-action="clearance"');
    expect(page).toContain('<code dir="ltr">req-1</code>');
  });

  test('offers the wait without scripts as a link and as a refresh, and says what to do where there is none', () => {
    const strict = renderChallengePage(challenge);
    expect(strict).toMatch(/<noscript><h1>This site asks for a task that requires JavaScript\./);
    expect(strict).toContain('.reference[hidden]{display:block!important}');
    expect(strict).not.toContain('Continue without scripts');
    const page = renderChallengePage({ ...challenge, noScript: { url: '/__protect/wait?t=1&u=2', waitSeconds: 5 } });
    expect(page).toContain('content="5;url=/__protect/wait?t=1&amp;u=2"');
    expect(page).toContain('href="/__protect/wait?t=1&amp;u=2"');
    expect(page).toContain('<noscript><h1>Continue without scripts</h1></noscript>');
    expect(page).not.toMatch(/requires JavaScript|\.reference\[hidden/);
  });

  test('holds a sealed submission in a form of one field', () => {
    const replay = { url: '/__protect/replay', seal: 'sealed', noScript: null };
    const page = renderChallengePage({ ...challenge, replay });
    expect(page).toMatch(
      /<form method="post" action="\/__protect\/replay" enctype="text\/plain" hidden>\s*<input type="hidden" name="seal" value="sealed"/,
    );
    expect(page).toMatch(/<noscript><h1>[^<]*requires JavaScript/);
    expect(page).not.toContain('<iframe');
    const later = renderChallengePage({
      ...challenge,
      replay: { ...replay, noScript: { url: '/__protect/wait?t=1', waitSeconds: 13 } },
    });
    expect(later).not.toContain('requires JavaScript');
    expect(later).toMatch(/<noscript\s*><style nonce="[^"]+">\s*form\[hidden\][^]*animation: later 0s 18s forwards/);
  });

  test('weighs at most 20 KB gzipped with its script and worker, in every language', async () => {
    const assets = await buildClient();
    const scripts = (assets['interstitial.js']?.gzipBytes ?? NaN) + (assets['pow-worker.js']?.gzipBytes ?? NaN);
    const pages = Object.keys(pageLanguages).map(
      (tag) => gzipSync(renderChallengePage({ ...challenge, acceptLanguage: tag })).length,
    );
    expect(Math.max(...pages) + scripts).toBeLessThanOrEqual(20 * 1024);
  });
});

describe('branding', () => {
  test('uses the name as the alternative text of the logo', () => {
    expect(renderBlockPage({ ...base, branding: { name: 'Shop', logoUrl: '/logo.png' } })).toContain(
      '<img src="/logo.png" alt="Shop"',
    );
  });

  test('keeps its own colours in dark mode, and has a dark style without them', () => {
    expect(pageStyle({})).toContain('prefers-color-scheme:dark');
    expect(pageStyle({ backgroundColor: '#ffffff' })).not.toContain('prefers-color-scheme');
  });

  test.each([
    ['#ffff00', '#000000'],
    ['#000080', '#ffffff'],
    ['#767676', '#000000'],
  ])('text on a button of %s is %s', (primaryColor, text) => {
    expect(pageStyle({ primaryColor })).toContain(`--on-go:${text}`);
  });
});

describe('message pages', () => {
  const kinds: MessageKind[] = ['send-again', 'too-large', 'origin-unreachable', 'cookies-off', 'unavailable'];
  test('every page has a heading, a text and the reference', () =>
    expectRows(kinds, (kind) => {
      const page = renderMessagePage(kind, base);
      expect(page).toMatch(/<h1>[^<]+<\/h1>\s*<p>[^<]+<\/p>/);
      expect(page).toContain('req-1');
    }));
});

describe('security headers', () => {
  test('allow the nonce and this origin, no inline code and no other host', () => {
    const policy = pageSecurityHeaders(NONCE)['content-security-policy'];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`script-src 'nonce-${NONCE}' 'self'`);
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|https:|\*|blob:|data:/);
  });

  test('allow the host of the logo, and no other host', () => {
    const policy = pageSecurityHeaders(NONCE, 'https://cdn.example.com/a/logo.png')['content-security-policy'];
    expect(policy).toContain("img-src 'self' https://cdn.example.com;");
  });

  test('refuse a nonce that is not safe in a header', () =>
    expectRows(['', 'short', "x'; script-src *; '", 'abcdefghijklmnop; x'], (nonce) => {
      expect(() => pageSecurityHeaders(nonce)).toThrow(TypeError);
    }));
});
