/** Path patterns, and the policy of an instance for a path. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { compilePathPolicy } from '../../../src/decide/path-policy.ts';
import { compilePathGlob } from '../../../src/bytes/glob.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';

describe('path pattern', () => {
  test('matches the paths that it describes, and no other', () =>
    expectRows(
      [
        ['/login', '/login', true],
        ['/login', '/login/', false],
        ['/api/*', '/api/a', true],
        ['/api/*', '/api/a/b', false],
        ['/api/*', '/api/', true],
        ['/api/**', '/api/a/b', true],
        ['/api/**', '/apix', false],
        ['/**/edit', '/a/b/edit', true],
        ['/**/edit', '/a/b/edit/x', false],
        ['/a/*/c/**', '/a/b/c/d/e', true],
        ['/*.css', '/x.css', true],
        ['/*.css', '/a/x.css', false],
        ['/(a+)+$', '/aaaa', false],
      ],
      ([pattern, path, expected]) => {
        expect(compilePathGlob(pattern)(path)).toBe(expected);
      },
    ));

  test('a pattern matches the same paths as its regular expression', () => {
    const part = fc.constantFrom('a', 'b', '/', '*', '**', '.');
    const path = fc.array(fc.constantFrom('a', 'b', '/', '.'), { maxLength: 12 }).map((parts) => '/' + parts.join(''));
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }).map((parts) => '/' + parts.join('')),
        path,
        (pattern, text) => {
          const source = pattern.replace(/\./g, '\\.').replace(/\*+/g, (stars) => (stars === '*' ? '[^/]*' : '.*'));
          expect(compilePathGlob(pattern)(text)).toBe(new RegExp(`^${source}$`).test(text));
        },
      ),
      { numRuns: runs(3000) },
    );
  });

  test('reads a path as often as the pattern has literals, however long the path is', () =>
    expectRows(
      ['/files/**.*.bak', '/**.bak', '/**a*a/b*z', `/${'**a'.repeat(20)}b`, `/${'*a'.repeat(20)}b`],
      (pattern) => {
        const matches = compilePathGlob(pattern);
        const literals = pattern.split(/\*+/).length;
        class CountedPath extends String {
          searches = 0;
          read = 0;
          override indexOf(text: string, position = 0): number {
            const at = super.indexOf(text, position);
            this.searches += 1;
            this.read += (at < 0 ? this.length : at + text.length) - position;
            return at;
          }
        }
        for (const segment of ['a', 'a.', '/a.b', 'aaaaaaa/b']) {
          const path = new CountedPath(`/files/${segment.repeat(2000)}`);
          expect(matches(path as unknown as string)).toBe(false);
          // Once for the literal and once for the `/` that ends its `*`.
          expect(path.read).toBeLessThanOrEqual(4 * literals * path.length);
          expect(path.searches).toBeLessThanOrEqual(4 * literals * path.split('/').length);
        }
      },
    ));
});

describe('path policy', () => {
  const policyFor = compilePathPolicy(
    instancePolicy.parse({
      endpointRules: [{ pattern: '/api/**', pathType: 'json' }],
      pathRules: [
        { pattern: '/public/**', action: 'allow', waiveSession: true },
        { pattern: '/admin/**', action: 'challenge' },
        { pattern: '/hook', action: 'allow', methods: ['POST'], waiveSession: true },
        { pattern: '/*.css', action: 'allow' },
      ],
    }),
  );
  const at = (path: string, method = 'GET') => policyFor(canonicalTarget(`http://site.test${path}`)!, method);

  test('the first matching rule applies', () => {
    expect(at('/public/a')).toMatchObject({ action: 'allow', pattern: '/public/**', pathType: 'html' });
    expect(at('/api/x')).toMatchObject({ action: 'inherit', pathType: 'json' });
  });

  test('a rule with methods applies only to them', () => {
    expect(at('/hook', 'POST').action).toBe('allow');
    expect(at('/hook', 'GET').action).toBe('inherit');
  });

  test('takes the policy of the admin path in every spelling of it', () =>
    expectRows(
      ['/public/..%2fadmin/x', '/public/%2e%2e/admin/x', '/public/..%252fadmin/x', '/public/..\\admin/x'],
      (path) => {
        expect(at(path)).toMatchObject({ action: 'challenge', pattern: '/admin/**' });
      },
    ));

  test('asks for a session in every spelling of a json path', () =>
    expectRows(['/x/..%2fapi/secret', '/x%2f..%2fapi/secret', '/page;a=b/..;/../api/x', '/api;v=1/secret'], (path) => {
      expect(at(path).pathType).toBe('json');
    }));

  test('a path that an origin could read as the admin path takes its policy too', () =>
    expectRows(
      [
        '/x//..%2fadmin/y',
        '/x//..;/admin/y',
        '/x/;/..;/admin/y',
        '/%u0061dmin/y',
        '/x/%c0%ae%c0%ae/admin/y',
        // IIS reads the second escape and not the first.
        '/x%c0%afy%u002f../admin/y',
        '//host/admin/y',
        '/ADMIN/y',
        '/admin%2fy',
      ],
      (path) => {
        expect(at(path)).toMatchObject({ action: 'challenge', pattern: '/admin/**' });
      },
    ));

  test.each(['/x//..%2Fapi/secret', '/API/secret', '/x/;/..;/api/secret'])(
    '%s is asked for a session as well',
    (path) => {
      expect(at(path).pathType).toBe('json');
    },
  );

  test('another letter case is never treated more kindly', () => {
    expect(at('/PUBLIC/a')).toMatchObject({ action: 'inherit', waiveSession: false });
    expect(at('/ROBOTS.TXT').exempt).toBe(false);
  });

  test('a pattern is read like a path', () => {
    const policy = instancePolicy.parse({ pathRules: [{ pattern: '/café//%7eme/*', action: 'block' }] });
    expect(compilePathPolicy(policy)(canonicalTarget('http://site.test/caf%c3%a9/~me/x')!, 'GET').action).toBe('block');
  });

  test('a path with too many readings gets the strictest policy that its method has', () => {
    const path = `/public/${';a%2525/..%252f%5c%3f%23//'.repeat(80)}`;
    expect(canonicalTarget(`http://site.test${path}`)!.readings).toBeNull();
    expect(at(path)).toEqual({
      action: 'challenge',
      pattern: '/admin/**',
      pathType: 'json',
      waiveSession: false,
      exempt: false,
    });
    expect(at(`/.well-known/${path}`).exempt).toBe(false);
  });

  test.each(['/login;x.css', '/login%2f.css', '/login%3bx.css'])('%s is not a style sheet', (path) => {
    expect(at(path).action).toBe('inherit');
  });

  test.each(['/robots.txt', '/favicon.ico', '/.well-known/security.txt'])('%s is exempt', (path) => {
    expect(at(path).exempt).toBe(true);
  });

  test('no path that only resembles an exempt file is exempt', () =>
    expectRows(
      [
        '/robots.txt/x',
        '/x/robots.txt',
        '/.well-known/..%2flogin',
        '/.well-known/x%2fsecurity.txt',
        '/.well-known/%2e%2e/login',
        '/.well-known/%252e%252e/login',
        '/.well-known/..%252flogin',
        '/login?/robots.txt',
        '/login;/robots.txt',
        '/.well-known//..;/login',
        '/.well-known//..%2flogin',
        '/.well-known/%u002e%u002e/login',
        '/.well-known/%c0%ae%c0%ae/login',
      ],
      (path) => {
        expect(at(path).exempt).toBe(false);
      },
    ));

  test('the policies of short paths are remembered, those of long paths are not', () => {
    expect(at('/short')).toBe(at('/short'));
    for (const long of [`/${'y'.repeat(600)}`, `/short-path?${'y'.repeat(600)}`]) {
      expect(at(long)).not.toBe(at(long));
      expect(at(long)).toEqual(at('/short'));
    }
  });

  test('new paths, whatever their methods, replace the oldest ones', () => {
    const first = at('/first');
    for (let index = 0; index < 4000; index++) at(`/new/${index}`, index % 2 === 0 ? 'GET' : 'PROPFIND');
    expect(at('/first')).not.toBe(first);
  });

  test('a POST to an exempt file is not exempt', () => {
    expect(at('/robots.txt', 'POST').exempt).toBe(false);
  });
});
