/** The detectors of a single request: silent on every kind of request that browsers send, and what makes each fire. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readHeaders } from '../../../src/edge/request/header-facts.ts';
import { claimedBrowser } from '../../../src/risk/headers/claimed-browser.ts';
import { requestConditions, type RequestDetector } from '../../../src/risk/headers/request-risk.ts';
import { expectRows } from '../../support/rows.ts';
import { CHROME, FIREFOX } from './session-facts.ts';

const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15';
const OLD_SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 15_8 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.6 Mobile/15E148 Safari/604.1';
const CHROME_ON_IOS =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/153.0 Mobile/15E148 Safari/604.1';
const WEB_VIEW =
  'Mozilla/5.0 (Linux; Android 14; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/153.0 Mobile Safari/537.36';
const GOOGLEBOT =
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Googlebot/2.1; +http://www.google.com/bot.html) Chrome/153.0.0.0 Safari/537.36';

interface Sent {
  headers: Record<string, string>;
  method?: string;
  secure?: boolean;
  categories?: string[];
  ja4?: string;
}
function fired({ headers, method = 'GET', secure = true, categories = [], ja4 }: Sent): RequestDetector[] {
  const read = readHeaders({ method, headers: new Headers(headers) }, secure);
  const { userAgent } = read;
  const facts = { userAgent, claim: claimedBrowser(userAgent), headers: read, categories, ja4: ja4 ?? null };
  return (Object.keys(requestConditions) as RequestDetector[]).filter((name) => requestConditions[name](facts));
}

const language = { 'accept-language': 'en' };
const page = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br',
  ...language,
};
const navigation = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const call = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
const hints = { 'sec-ch-ua': '"Chromium";v="153"', 'sec-ch-ua-mobile': '?0', 'sec-ch-ua-platform': '"Windows"' };
const upgrade = { 'upgrade-insecure-requests': '1' };
const ofChrome = { 'user-agent': CHROME, ...page, ...navigation, ...hints, ...upgrade };
const ofFirefox = { 'user-agent': FIREFOX, ...page, ...navigation, ...upgrade };
const ofSafari = { 'user-agent': SAFARI, ...page, ...navigation };
const without = (headers: Record<string, string>, ...names: string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));

describe('no detector fires on', () => {
  const recorded = JSON.parse(readFileSync('test/fixtures/risk/requests.json', 'utf8')) as {
    browser: string;
    path: string;
    method: string;
    headers: Record<string, string>;
  }[];

  test('any request that was recorded of a browser', () =>
    expectRows(recorded, ({ method, headers }) => {
      const withWindow = { ...headers, 'user-agent': headers['user-agent']!.replace('Headless', '') };
      const brands = headers['sec-ch-ua']?.replaceAll('Headless', '');
      expect(
        fired({ method, headers: brands === undefined ? withWindow : { ...withWindow, 'sec-ch-ua': brands } }),
      ).toEqual([]);
    }));

  test('a navigation of Chrome, Firefox and Safari', () => {
    for (const headers of [ofChrome, ofFirefox, ofSafari]) expect(fired({ headers })).toEqual([]);
  });

  test('a page and its scripts over plain http, where browsers send fewer headers', () => {
    const script = { ...page, accept: '*/*', referer: 'http://site.test/' };
    for (const userAgent of [CHROME, FIREFOX, SAFARI]) {
      expect(fired({ secure: false, headers: { 'user-agent': userAgent, ...page, ...upgrade } })).toEqual([]);
      expect(fired({ secure: false, headers: { 'user-agent': userAgent, ...script } })).toEqual([]);
    }
  });

  test('browsers that never sent these headers', () => {
    for (const userAgent of [OLD_SAFARI, CHROME_ON_IOS, FIREFOX.replaceAll('148', '78')]) {
      expect(fired({ headers: { 'user-agent': userAgent, ...page } })).toEqual([]);
    }
    expect(fired({ headers: { 'user-agent': WEB_VIEW, ...page, ...navigation, ...upgrade } })).toEqual([]);
  });

  test('a crawler that says so and has a language', () => {
    expect(fired({ headers: { 'user-agent': GOOGLEBOT, ...language } })).toEqual([]);
  });

  test('a preflight and a WebSocket of Chrome', () => {
    const preflight = { ...without(page, 'accept'), accept: '*/*', ...call, 'user-agent': CHROME };
    expect(fired({ method: 'OPTIONS', headers: preflight })).toEqual([]);
    expect(fired({ headers: { 'user-agent': CHROME, upgrade: 'websocket' } })).toEqual([]);
  });
});

test('a platform that is named like a member of every object is an unknown one', () =>
  expectRows(['"constructor"', '"__proto__"', '"toString"'], (platform) => {
    expect(fired({ headers: { ...ofChrome, 'sec-ch-ua-platform': platform } })).toEqual([]);
  }));

describe('a detector fires on', () => {
  const CHROMIUM_JA4 = 't13d1516h2_8daaf6152771_02713d6af862';
  test('headers, TLS or a category that no ordinary browser has', () =>
    expectRows<[string, RequestDetector[], Sent]>(
      [
        ['no user agent', ['no-user-agent'], { headers: page }],
        [
          'a tool',
          ['automation-user-agent', 'no-accept-language'],
          { headers: { 'user-agent': 'curl/8.5.0', accept: '*/*' } },
        ],
        [
          'a name without a browser’s form',
          ['automation-user-agent'],
          { headers: { 'user-agent': 'Mozilla/5.0', ...page } },
        ],
        [
          'a headless browser that says so',
          ['headless-user-agent'],
          { headers: { ...ofChrome, 'user-agent': CHROME.replace('Chrome', 'HeadlessChrome') } },
        ],
        ['no language', ['no-accept-language'], { headers: without(ofChrome, 'accept-language') }],
        [
          'Firefox without metadata',
          ['no-fetch-metadata'],
          { headers: without(ofFirefox, 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest') },
        ],
        [
          'only a destination',
          ['contradictory-fetch-metadata'],
          { headers: { 'user-agent': SAFARI, ...page, 'sec-fetch-dest': 'image' } },
        ],
        [
          'a navigation to a style sheet',
          ['contradictory-fetch-metadata'],
          { headers: { ...ofSafari, accept: 'text/css', 'sec-fetch-dest': 'style' } },
        ],
        [
          'a style sheet asked for as anything',
          ['contradictory-fetch-metadata'],
          { headers: { ...ofSafari, accept: '*/*', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'style' } },
        ],
        [
          'a script that is posted to',
          ['contradictory-fetch-metadata'],
          { method: 'POST', headers: { ...ofSafari, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' } },
        ],
        ['a made-up site', ['contradictory-fetch-metadata'], { headers: { ...ofSafari, 'sec-fetch-site': 'here' } }],
        ['Chrome without hints', ['no-client-hints'], { headers: without(ofChrome, ...Object.keys(hints)) }],
        [
          'hints of another version',
          ['contradictory-client-hints'],
          { headers: { ...ofChrome, 'sec-ch-ua': '"Chromium";v="120"' } },
        ],
        ['Firefox with hints', ['contradictory-client-hints'], { headers: { ...ofFirefox, ...hints } }],
        ['a page asked for as anything', ['no-html-accept'], { headers: { ...ofSafari, accept: '*/*' } }],
        ['a page without compression', ['no-compression'], { headers: without(ofSafari, 'accept-encoding') }],
        [
          'a navigation of Firefox without the upgrade',
          ['no-upgrade-request'],
          { headers: without(ofFirefox, ...Object.keys(upgrade)) },
        ],
        ['Chromium’s TLS under Firefox’s name', ['contradictory-tls'], { headers: ofFirefox, ja4: CHROMIUM_JA4 }],
        [
          'TLS without HTTP/2',
          ['contradictory-tls'],
          { headers: ofSafari, ja4: 't13d2014h1_000000000000_14788d8d241b' },
        ],
        ['TLS 1.2', ['contradictory-tls'], { headers: ofSafari, ja4: 't12d2014h2_000000000000_14788d8d241b' }],
        ['a category', ['category-tor'], { headers: ofSafari, categories: ['tor'] }],
      ],
      ([, names, sent]) => {
        expect(fired(sent).toSorted()).toEqual(names.toSorted());
      },
    ));

  test('no TLS of its own family', () =>
    expectRows(
      [
        [CHROME, CHROMIUM_JA4],
        [CHROME, 'q13d0312h3_55b375c5d22e_06cda9e17597'],
        [FIREFOX, 't13d1717h2_5b57614c22b0_3cbfd9057e0d'],
        [SAFARI, 't13d2014h2_a09f3c656075_14788d8d241b'],
        [CHROME_ON_IOS, 't13d2014h2_a09f3c656075_14788d8d241b'],
        ['curl/8.5.0', 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6'],
      ],
      ([userAgent, ja4]) => {
        expect(fired({ headers: { 'user-agent': userAgent }, ja4 })).not.toContain('contradictory-tls');
      },
    ));

  test('the name of a browser with a language and nothing else, two at least', () =>
    expectRows(
      [
        ['Firefox', FIREFOX],
        ['Safari', SAFARI],
        ['an old Safari', OLD_SAFARI],
        ['Chrome', CHROME],
      ],
      ([, userAgent]) => {
        expect(fired({ headers: { 'user-agent': userAgent, ...language, accept: '*/*' } }).length).toBeGreaterThan(1);
      },
    ));
});
