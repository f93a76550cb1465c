/** Where a redirect of the origin leads the visitor. */
import { describe, expect, test } from 'vitest';
import { addressForVisitor } from '../../../src/edge/origin/send-to-origin.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { expectRows } from '../../support/rows.ts';

const target = canonicalTarget('https://shop.test/cart')!;
const led = (location: string, base: string) => addressForVisitor(location, target, { base });

describe('a redirect of an origin at http://localhost', () => {
  test('leads to the site', () =>
    expectRows(
      [
        ['http://localhost/login', 'https://shop.test/login'],
        ['http://localhost:80/login', 'https://shop.test/login'],
        ['http://LOCALHOST/x', 'https://shop.test/x'],
        ['//localhost/x?a=%zz#b', 'https://shop.test/x?a=%zz#b'],
        ['HTTPS://localhost', 'https://shop.test/'],
        ['http://localhost?x', 'https://shop.test/?x'],
        ['http:\\\\localhost\\x', 'https://shop.test/x'],
        ['http://localhost//evil.test/', 'https://shop.test//evil.test/'],
      ],
      ([location, visible]) => {
        expect(led(location, 'http://localhost')).toBe(visible);
      },
    ));

  test('is left alone when it leads elsewhere or names no host', () =>
    expectRows(
      [
        '/login',
        'login',
        '?x',
        'http://localhost:81/x',
        'http://localhost.test/x',
        '//other.test/x',
        'ftp://localhost/x',
        'http://',
      ],
      (location) => {
        expect(led(location, 'http://localhost')).toBe(location);
      },
    ));
});

describe('a redirect of an origin at http://localhost:81/app', () => {
  test.each([
    ['http://localhost:81/app/login', 'https://shop.test/login'],
    ['http://localhost:81/app', 'https://shop.test/'],
    ['//localhost:81/x/../app/y', 'https://shop.test/y'],
  ])('%s leads to %s', (location, visible) => {
    expect(led(location, 'http://localhost:81/app')).toBe(visible);
  });

  test.each(['http://localhost:81/application', 'http://localhost:81/', 'http://localhost/app'])(
    '%s is left alone',
    (location) => {
      expect(led(location, 'http://localhost:81/app')).toBe(location);
    },
  );
});
