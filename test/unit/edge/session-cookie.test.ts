/** The domain of the session cookie: as wide as the public suffix list allows, and no wider. */
import { expect, test } from 'vitest';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { sessionCookie } from '../../../src/edge/session/sessions.ts';
import { cookieDomain } from '../../../src/service/edge-api/create-session.ts';
import { expectRows } from '../../support/rows.ts';

test('the cookie domain of a host is its registrable domain, if it has one', () =>
  expectRows(
    [
      ['www.example.com', 'example.com'],
      ['example.com', 'example.com'],
      ['a.b.example.co.uk:8443', 'example.co.uk'],
      ['shop.someone.github.io', 'someone.github.io'],
      ['github.io', null],
      ['co.uk', null],
      ['localhost:8800', null],
      ['127.0.0.1:8800', null],
      ['[2001:db8::1]', null],
    ],
    ([host, domain]) => {
      expect(cookieDomain(host)).toBe(domain);
    },
  ));

const session = (domain: string | null) => ({
  jti: 'j',
  jwt: 'a.b.c',
  expiresAt: 60_000,
  jwtExpiresAt: 1000,
  cookieDomain: domain,
});
const cookieAt = (url: string, domain: string | null) => sessionCookie(session(domain), canonicalTarget(url)!, 0);

test('the cookie has the domain if the host belongs to it, and Secure over HTTPS', () => {
  expect(cookieAt('https://www.example.com/', 'example.com')).toBe(
    'protect_session=j|a.b.c; Path=/; Max-Age=60; SameSite=Lax; Domain=example.com; Secure',
  );
  expect(cookieAt('http://127.0.0.1:8800/', null)).toBe('protect_session=j|a.b.c; Path=/; Max-Age=60; SameSite=Lax');
  expect(cookieAt('https://evilexample.com/', 'example.com')).not.toContain('Domain');
});
