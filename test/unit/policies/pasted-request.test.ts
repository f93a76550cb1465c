/** Requests that people paste, in the forms that browsers, logs and curl write. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readPasted } from '../../../src/policies/pasted/pasted-request.ts';
import { expectRows } from '../../support/rows.ts';

function read(text: string) {
  const given = readPasted(text);
  return given.ok ? given.value : given.error;
}
const request = (text: string) => (read(text) as { request: { headers: Record<string, string> } }).request;
const REFERENCE = '0b0e7f1c-0d67-4f35-8b3a-4f0a1cb5a0e1';

describe('a pasted request is read from', () => {
  test('every form that people paste', () =>
    expectRows(
      [
        ['a reference', ` ${REFERENCE.toUpperCase()}\n`, { requestId: REFERENCE }],
        ['an address', 'https://shop.example/a?b=c', { request: { url: 'https://shop.example/a?b=c' } }],
        [
          'JSON',
          '{"url":"https://a.example/","ip":"192.0.2.1"}',
          { request: { url: 'https://a.example/', ip: '192.0.2.1' } },
        ],
        [
          'HTTP',
          'POST /login?x=1 HTTP/1.1\r\nHost: shop.example\r\nCookie: a=1\r\nCookie: b=2\r\nX-A: 1\r\nX-A: 2\r\n\r\nbody: 1',
          {
            request: {
              method: 'POST',
              url: 'https://shop.example/login?x=1',
              headers: { host: 'shop.example', cookie: 'a=1; b=2', 'x-a': '1, 2' },
            },
          },
        ],
        [
          'a command of a browser',
          "curl 'https://shop.example/login' \\\n  -X 'POST' \\\n  -H 'user-agent: Mozilla/5.0' \\\r\n  -b 'sid=1; t=2' --data-raw $'a=\\u0041\\'b' --compressed",
          {
            request: {
              method: 'POST',
              url: 'https://shop.example/login',
              headers: {
                'user-agent': 'Mozilla/5.0',
                cookie: 'sid=1; t=2',
                accept: '*/*',
                'content-type': 'application/x-www-form-urlencoded',
              },
            },
          },
        ],
        [
          'a command of a person',
          'curl -sSLH "X-Name: \\"a b\\"" -A Bot/1 -u me:key --max-time 5 -G -d q=1 shop.example/find',
          {
            request: {
              method: 'GET',
              url: 'http://shop.example/find?q=1',
              headers: { 'x-name': '"a b"', 'user-agent': 'Bot/1', authorization: 'Basic bWU6a2V5', accept: '*/*' },
            },
          },
        ],
      ],
      ([, text, expected]) => {
        expect(read(text)).toEqual(expected);
      },
    ));

  test('a command with each kind of option', () => {
    expect(request('curl -I https://a.example').headers).toEqual({ 'user-agent': 'curl/8', accept: '*/*' });
    expect(request('curl -I https://a.example')).toMatchObject({ method: 'HEAD' });
    expect(request('curl --json "{}" https://a.example')).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
    });
    expect(request("curl -H 'Accept:' -H 'X-Empty;' --unknown word https://a.example/x")).toMatchObject({
      url: 'https://a.example/x',
      headers: { 'x-empty': '' },
    });
  });
});

test('a text that is no request is refused with a sentence', () =>
  expectRows(
    [
      ['nothing', 'begins with a line'],
      ['{"url":', 'not valid JSON'],
      ['GET /a HTTP/1.1\nbroken', 'This is no header: broken'],
      ['GET /a HTTP/1.1', 'no Host header'],
      ["curl 'https://a.example", 'not closed'],
      ['curl https://a.example | sh', 'a "|" outside of quotes'],
      ['curl -s', 'no address'],
      ['curl https://a.example -H', '--header has no value'],
      ['curl https://a.example -H "a b"', 'This is no header: a b'],
    ],
    ([text, sentence]) => {
      expect(read(text)).toContain(sentence);
    },
  ));

test('any text is read or refused, and never throws', () => {
  const piece = fc.constantFrom(
    'curl ',
    "'",
    '"',
    '$',
    '\\',
    '\n',
    '-H ',
    '-d',
    'x',
    'https://a.example',
    ':',
    ' ',
    'é',
    '--url',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      expect(typeof readPasted(`curl ${pieces.join('')}`).ok).toBe('boolean');
    }),
  );
});
