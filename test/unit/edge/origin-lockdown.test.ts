/** The Node snippet of `docs/origin-lockdown.md` accepts what the edge signs, and nothing else. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HmacSha256 } from '../../../src/bytes/hmac-sha256.ts';
import { signForOrigin } from '../../../src/edge/origin/origin-signature.ts';
import { expectRows } from '../../support/rows.ts';

const source = /## Node\s+```js\n([^]*?)```/.exec(readFileSync('docs/origin-lockdown.md', 'utf8'))![1]!;
const { cameThroughTheGate } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
  cameThroughTheGate: (request: object, keys: Record<string, string>, nowSeconds: number) => boolean;
};

const key = Buffer.alloc(32, 5);
const NOW = 1_800_000_000;
const signature = signForOrigin(new HmacSha256(key), 'k1', {
  timestamp: NOW,
  method: 'POST',
  target: '/order?x=1',
  requestId: 'r-1',
  decision: 'allow',
  verified: 'true',
  ip: '192.0.2.1',
});
const request = (headers: object = {}, changes: object = {}) => ({
  method: 'POST',
  url: '/order?x=1',
  headers: {
    'x-protect-signature': signature,
    'x-protect-request-id': 'r-1',
    'x-protect-decision': 'allow',
    'x-protect-verified': 'true',
    'x-forwarded-for': '192.0.2.1',
    ...headers,
  },
  ...changes,
});
const accepts = (of: object, now = NOW) => cameThroughTheGate(of, { k1: key.toString('base64url') }, now);

test('a request through the gate is accepted', () => {
  expect(accepts(request())).toBe(true);
});

test('a request that differs from what was signed is refused', () =>
  expectRows<[string, object]>(
    [
      ['no signature', request({ 'x-protect-signature': undefined })],
      ['another path', request({}, { url: '/order?x=2' })],
      ['another method', request({}, { method: 'GET' })],
      ['another request id', request({ 'x-protect-request-id': 'r-2' })],
      ['another decision', request({ 'x-protect-decision': 'challenge' })],
      ['another verification', request({ 'x-protect-verified': 'false' })],
      ['another visitor', request({ 'x-forwarded-for': '192.0.2.2' })],
      ['another key id', request({ 'x-protect-signature': signature.replace('k1', 'k2') })],
    ],
    ([, of]) => {
      expect(accepts(of)).toBe(false);
    },
  ));

test('a request with an old signature is refused', () => {
  expect(accepts(request(), NOW + 301)).toBe(false);
});
