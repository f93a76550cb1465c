/**
 * Browsers that few people use, with the headers that they send, and common ones behind a proxy that removes headers: none
 * is challenged for them. The headers of Lynx, w3m, NetSurf, Dillo and surf were recorded, the others were written
 * by hand.
 */
import { expect, test } from 'vitest';
import { riskDetectors } from '../../../src/contract/edge/risk-detectors.ts';
import { readHeaders } from '../../../src/edge/request/header-facts.ts';
import { claimedBrowser } from '../../../src/risk/headers/claimed-browser.ts';
import { sessionWeight } from '../../../src/risk/detectors.ts';
import { compileRequestRisk } from '../../../src/risk/headers/request-risk.ts';
import { expectRows } from '../../support/rows.ts';
import { CHROME, FIREFOX } from './session-facts.ts';

const scoreOf = compileRequestRisk(riskDetectors, riskDetectors.map(sessionWeight));

function risk(headers: Record<string, string>, method = 'GET'): number {
  const read = readHeaders({ method, headers: new Headers(headers) }, true);
  const { userAgent } = read;
  const facts = { userAgent, claim: claimedBrowser(userAgent), headers: read, categories: [], ja4: null };
  return scoreOf(facts, null)?.score ?? 0;
}

const page = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const packed = { 'accept-encoding': 'gzip, deflate, br' };
const language = { 'accept-language': 'zh-CN,zh;q=0.9' };
const upgrade = { 'upgrade-insecure-requests': '1' };
const navigation = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
const chromium = (tokens: string, system = 'Windows NT 10.0; Win64; x64') =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) ${tokens}`;
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15';
const ANDROID = 'Linux; U; Android 12; zh-CN; M2012K11AC';

test('a rare browser is not challenged for what its family does not send', () =>
  expectRows<[string, Record<string, string>]>(
    [
      [
        'UC',
        {
          'user-agent': chromium(
            'Version/4.0 Chrome/100.0.4896.58 UCBrowser/13.4.0.1306 Mobile Safari/537.36',
            ANDROID,
          ),
          ...page,
          ...packed,
          ...language,
          ...upgrade,
        },
      ],
      [
        'QQ',
        {
          'user-agent': chromium('Version/4.0 Chrome/98.0.4758.102 MQQBrowser/13.6 Mobile Safari/537.36', ANDROID),
          ...page,
          ...packed,
          ...language,
          ...upgrade,
        },
      ],
      [
        '360',
        {
          'user-agent': chromium('Chrome/108.0.5359.95 Safari/537.36 QIHU 360SE'),
          ...page,
          ...packed,
          ...language,
          ...upgrade,
        },
      ],
      [
        'Lynx',
        {
          'user-agent': 'Lynx/2.9.0dev.12 libwww-FM/2.14 SSL-MM/1.4.1 GNUTLS/3.7.8',
          accept: 'text/html, text/plain, text/sgml, text/css, */*;q=0.01',
          'accept-encoding': 'gzip, compress, bzip2',
          'accept-language': 'en',
        },
      ],
      [
        'w3m',
        {
          'user-agent': 'w3m/0.5.3+git20230121',
          accept:
            'text/html, text/*;q=0.5, image/*, application/*, audio/*, x-scheme-handler/*, multipart/*, message/*',
          'accept-encoding': 'gzip, compress, bzip, bzip2, deflate',
          'accept-language': 'en;q=1.0',
        },
      ],
      ['NetSurf', { 'user-agent': 'NetSurf/3.10 (Linux)', accept: '*/*', 'accept-encoding': 'gzip' }],
      ['Dillo', { 'user-agent': 'Dillo/3.0.5', ...page, 'accept-encoding': 'gzip, deflate', dnt: '1' }],
      [
        'ELinks',
        {
          'user-agent': 'ELinks/0.16.1.1 (textmode; Linux 6.1.0 x86_64; 80x24-2)',
          accept: '*/*',
          ...packed,
          ...language,
        },
      ],
      [
        'Links',
        { 'user-agent': 'Links (2.29; Linux 6.1.0 x86_64; GNU C 12.2; text)', accept: '*/*', ...packed, ...language },
      ],
      ['surf', { 'user-agent': `${SAFARI} Surf/2.1`, ...page, ...packed, ...upgrade, ...navigation, ...language }],
      ['Chrome whose proxy removes what it does not know', { 'user-agent': CHROME, ...page, ...packed, ...upgrade }],
      ['Chrome whose proxy removes even more', { 'user-agent': CHROME, ...page, ...packed }],
      ['Firefox behind such a proxy', { 'user-agent': FIREFOX, ...page, ...packed }],
      ['Safari behind such a proxy', { 'user-agent': SAFARI, ...page, ...packed }],
    ],
    ([, headers]) => {
      expect(risk(headers)).toBeLessThan(0.5);
    },
  ));

test('a program is challenged as before, under its own name and under a browser’s', () =>
  expectRows<[string, Record<string, string>]>(
    [
      ['curl', { 'user-agent': 'curl/8.5.0', accept: '*/*' }],
      ['curl that asks for html', { 'user-agent': 'curl/8.5.0', ...page, ...packed, ...language }],
      ['a library', { 'user-agent': 'libwww-perl/6.72', ...page, ...packed, ...language }],
      ['a library of Java', { 'user-agent': 'Apache-HttpClient/4.5.13 (Java/17)', 'accept-encoding': 'gzip' }],
      ['a program of somebody', { 'user-agent': 'Fetcher/1.0', accept: '*/*', ...packed }],
      ['a feed reader', { 'user-agent': 'FreshRSS/1.24.0 (Linux)', accept: '*/*' }],
      ['no form at all', { 'user-agent': 'Mozilla/5.0', ...page, ...packed }],
      ['a browser’s name and nothing else', { 'user-agent': CHROME, accept: '*/*' }],
      ['a browser’s name and a language', { 'user-agent': CHROME, accept: '*/*', ...packed, ...language }],
    ],
    ([, headers]) => {
      expect(risk(headers)).toBeGreaterThanOrEqual(0.5);
    },
  ));
