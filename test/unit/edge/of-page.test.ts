/** Which requests show that a page prepared them. */
import { expect, test } from 'vitest';
import { isOfPage, readHeaders } from '../../../src/edge/request/header-facts.ts';
import { expectRows } from '../../support/rows.ts';

type Case = [says: string, method: string, secure: boolean, headers: Record<string, string>, ofPage: boolean];

test('a request is of a page when it has what browsers send', () =>
  expectRows<Case>(
    [
      ['a browser’s form', 'POST', true, { 'sec-fetch-site': 'same-origin', origin: 'https://shop.example' }, true],
      ['an older browser’s form', 'POST', true, { origin: 'https://shop.example' }, true],
      ['a browser’s first visit', 'GET', true, { 'sec-fetch-site': 'none' }, true],
      ['a link followed in an older browser', 'GET', true, { referer: 'https://shop.example/' }, true],
      ['a first visit over plain http, where browsers send none of the headers', 'GET', false, {}, true],
      ['a form over plain http', 'POST', false, { origin: 'http://shop.example' }, true],
      ['a webhook', 'POST', true, { 'content-type': 'application/json' }, false],
      ['a webhook over plain http', 'POST', false, {}, false],
      ['a feed reader', 'GET', true, { accept: '*/*' }, false],
    ],
    ([, method, secure, headers, ofPage]) => {
      expect(isOfPage(readHeaders({ method, headers: new Headers(headers) }, secure))).toBe(ofPage);
    },
  ));
