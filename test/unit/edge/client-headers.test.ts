/**
 * What a session call sends about its headers: presence and bounded texts, and the places where browsers send them at
 * all.
 */
import { describe, expect, test } from 'vitest';
import { clientHeaders } from '../../../src/contract/edge/edge-api.ts';
import { clientHeadersOf, readHeaders } from '../../../src/edge/request/header-facts.ts';
import { isSecureContext } from '../../../src/risk/headers/request-facts.ts';
import { expectRows } from '../../support/rows.ts';

const chrome = {
  'accept-language': 'de-DE,de;q=0.9',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'cors',
  'sec-fetch-dest': 'empty',
  'sec-ch-ua': '"Chromium";v="153"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
};
const of = (headers: Record<string, string>, scheme = 'https', host = 'example.org') =>
  clientHeadersOf(readHeaders({ method: 'POST', headers: new Headers(headers) }, isSecureContext({ scheme, host })));

describe('client headers', () => {
  test('of a browser are reported as they are, without its languages', () => {
    expect(of(chrome)).toEqual({
      secure: true,
      acceptLanguage: true,
      fetchSite: 'same-origin',
      fetchMode: 'cors',
      fetchDest: 'empty',
      uaBrands: '"Chromium";v="153"',
      uaMobile: '?0',
      uaPlatform: '"Linux"',
    });
  });

  test('that are missing are null', () => {
    expect(of({})).toMatchObject({ acceptLanguage: false, fetchSite: null, uaBrands: null });
  });

  test('of a hostile client still fit the schema', () => {
    const long = Object.fromEntries(Object.keys(chrome).map((name) => [name, 'x'.repeat(5000)]));
    expect(clientHeaders.safeParse(of(long)).success).toBe(true);
  });

  test('are sent over https and to this machine', () =>
    expectRows(
      [
        ['https', 'example.org', true],
        ['http', 'example.org', false],
        ['http', 'localhost:8800', true],
        ['http', 'shop.localhost', true],
        ['http', '127.0.0.1:8800', true],
        ['http', '[::1]:8800', true],
        ['http', '127.example.org', false],
        ['http', 'localhost.example.org', false],
      ],
      ([scheme, host, secure]) => {
        expect(of(chrome, scheme, host).secure).toBe(secure);
      },
    ));
});
