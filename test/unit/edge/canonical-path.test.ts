/** The canonical path: what patterns match, whatever the visitor typed. */
import { describe, expect, test } from 'vitest';
import { readPath } from '../../../src/bytes/url-path.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { expectRows } from '../../support/rows.ts';

const target = (path: string) => canonicalTarget(`http://site.test${path}`);

describe('canonical path', () => {
  test('is what every spelling of a path is matched as', () =>
    expectRows(
      [
        ['/', '/'],
        ['/a/b.html', '/a/b.html'],
        ['/a/../b', '/b'],
        ['/a/./b/', '/a/b/'],
        ['//a//b', '/a/b'],
        ['/a\\b', '/a/b'],
        ['/%61dmin', '/admin'],
        ['/a%7Eb%41', '/a~bA'],
        ['/caf%c3%a9', '/caf%C3%A9'],
        ['/café', '/caf%C3%A9'],
        ['/x/%2e%2e/y', '/y'],
        ['/x/.%2E/y', '/y'],
        ['/a%2fb', '/a%2Fb'],
        ['/a;b=c/d', '/a;b=c/d'],
        ['/a%zz', '/a%zz'],
        ['//evil.test/x', '/evil.test/x'],
        ['/../../etc', '/etc'],
      ],
      ([raw, path]) => {
        expect(target(raw)?.path).toBe(path);
      },
    ));

  test('is forwarded as received', () =>
    expectRows(['/a/../b?x=1&y=%zz', '//a//b;c=d/x%2Fy?', '/a?b?c=%2e%2e/', '/?'], (raw) => {
      expect(target(raw)?.received).toBe(raw);
    }));

  test('the query never becomes part of the path', () => {
    expect(target('/login?/robots.txt')).toMatchObject({ path: '/login', query: '?/robots.txt' });
  });

  test('is ambiguous when it hides dots or slashes', () =>
    expectRows(['/.well-known/%2e%2e/login', '/a%2f..%2fb', '/a%5cb', '/%2E', '/x/%2e./y'], (raw) => {
      expect(target(raw)?.ambiguous).toBe(true);
    }));

  test('is not ambiguous when nothing hides', () =>
    expectRows(['/a/../b', '/a.%2eb', '/v1%2e2/x', '/a;b'], (raw) => {
      expect(target(raw)?.ambiguous).toBe(false);
    }));

  test('has the other readings that an origin could give it', () =>
    expectRows(
      [
        ['/public/..%2fadmin', '/admin'],
        ['/public/..%252fadmin', '/admin'],
        ['/login;x.css', '/login'],
        ['/login%3bx.css', '/login'],
        ['/login%3fx.css', '/login'],
        ['/login%2f.css', '/login/.css'],
        ['/login%23x.css', '/login'],
        ['/login%00.css', '/login'],
      ],
      ([raw, reading]) => {
        expect(target(raw)?.readings).toContain(reading);
      },
    ));

  test('has those readings and no others, and never itself', () =>
    expectRows<[raw: string, readings: string[]]>(
      [
        ['/a/../b', []],
        ['/a//b', []],
        ['/caf\u00e9', []],
        ['/a%20b', []],
        ['/login;x', ['/login']],
        // Without its dots it is a directory, as it is to the URL standard.
        ['/shop/%2e;x', ['/shop/', '/shop/.']],
        ['/a/b/..;', ['/a/', '/a/b/..']],
      ],
      ([raw, readings]) => {
        expect(target(raw)?.readings).toEqual(readings);
      },
    ));

  test('exists only for a request for a path of a host', () =>
    expectRows(
      ['http://site.test*', 'http://site.test', 'http://a?b/c', 'http://a@b/c', 'http://a#b/c', 'http:///x'],
      (url) => {
        expect(canonicalTarget(url)).toBeNull();
      },
    ));
});

test('an origin may take what follows a resolved dot for a host', () => {
  expect(readPath('/.//x/admin').readings).toContain('/admin');
  expect(readPath('/a/..//x/admin').readings).toContain('/admin');
});
