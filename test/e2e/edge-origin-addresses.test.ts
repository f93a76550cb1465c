/** No header of a response tells a visitor where the origin is, or leads past the gate, on workerd itself. */
import { expect, test } from 'vitest';
import { expectRows } from '../support/rows.ts';
import { call, originAnswers, originUrl, useEdgeBeforeOrigin } from './edge-before-origin.ts';

useEdgeBeforeOrigin({});

const headersOf = async (status: number, headers: Record<string, string>) => {
  originAnswers({ status, headers });
  return (await call({ host: 'shop.test' })).headers;
};

test('an address of the origin leads through the gate in Location of any status', () =>
  expectRows([200, 201, 202, 300, 302, 303, 307, 308, 404, 503], async (status) => {
    const { location } = await headersOf(status, { location: `${originUrl}/orders/1?x=1#y` });
    expect(location).toBe('http://shop.test/orders/1?x=1#y');
  }));

test('an address of the origin leads through the gate in other headers, and every other address stays', () =>
  expectRows(
    [
      ['content-location', 'ORIGIN/page.de.html', 'http://shop.test/page.de.html'],
      ['content-location', '/page.de.html', '/page.de.html'],
      ['refresh', '5; url=ORIGIN/next?a=1', '5; url=http://shop.test/next?a=1'],
      ['refresh', "0;URL='ORIGIN/next'", "0;URL='http://shop.test/next'"],
      ['refresh', '3, ORIGIN/next', '3, http://shop.test/next'],
      ['refresh', '30', '30'],
      ['refresh', '5; url=https://other.test/', '5; url=https://other.test/'],
      [
        'link',
        '<ORIGIN/a.css>; rel=preload; as=style, <https://cdn.test/b.js>; rel=preload, <ORIGIN/?page=2>; rel="next"',
        '<http://shop.test/a.css>; rel=preload; as=style, <https://cdn.test/b.js>; rel=preload, <http://shop.test/?page=2>; rel="next"',
      ],
      ['link', '</a.css>; rel=preload', '</a.css>; rel=preload'],
    ],
    async ([name, sent, seen]) => {
      const { [name]: value } = await headersOf(200, { [name]: sent.replaceAll('ORIGIN', originUrl) });
      expect(value).toBe(seen);
    },
  ));

test('a hostile header costs no time', async () => {
  const open = '<'.repeat(15_000);
  expect((await headersOf(200, { link: open })).link).toBe(open);
});

test('Alt-Svc of the origin, which offers a way past the gate, is dropped', async () => {
  const port = new URL(originUrl).port;
  expect(await headersOf(200, { 'alt-svc': `h3="origin.test:${port}"; ma=86400` })).not.toHaveProperty('alt-svc');
});
