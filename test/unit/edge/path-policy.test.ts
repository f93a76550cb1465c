/** Path patterns, and the policy of an instance for a path. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { canonicalTarget } from '../../../src/edge/request/canonical-path.ts';
import { compilePathPolicy } from '../../../src/edge/config/path-policy.ts';
import { compilePattern } from '../../../src/edge/config/path-pattern.ts';

describe('path pattern', () => {
  test.each([
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
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(compilePattern(pattern)(path)).toBe(expected);
  });

  test('a pattern matches the same paths as its regular expression', () => {
    const part = fc.constantFrom('a', 'b', '/', '*', '**', '.');
    const path = fc.array(fc.constantFrom('a', 'b', '/', '.'), { maxLength: 12 }).map((parts) => '/' + parts.join(''));
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }).map((parts) => '/' + parts.join('')),
        path,
        (pattern, text) => {
          const source = pattern.replace(/\./g, '\\.').replace(/\*+/g, (stars) => (stars === '*' ? '[^/]*' : '.*'));
          expect(compilePattern(pattern)(text)).toBe(new RegExp(`^${source}$`).test(text));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test('many wildcards on a long path take no more than one comparison per wildcard and character', () => {
    const [wildcards, characters] = [60, 16_000];
    let comparisons = 0;
    class CountedPath extends String {
      override startsWith(text: string, position?: number): boolean {
        comparisons += 1;
        return super.startsWith(text, position);
      }
    }
    const path = new CountedPath(`/${'a'.repeat(characters)}`) as unknown as string;
    expect(compilePattern(`/${'**a'.repeat(wildcards)}b`)(path)).toBe(false);
    expect(comparisons).toBeGreaterThan(0);
    expect(comparisons).toBeLessThan(wildcards * characters);
  });
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

  test.each(['/public/..%2fadmin/x', '/public/%2e%2e/admin/x', '/public/..%252fadmin/x', '/public/..\\admin/x'])(
    '%s takes the policy of the admin path',
    (path) => {
      expect(at(path)).toMatchObject({ action: 'challenge', pattern: '/admin/**' });
    },
  );

  test.each(['/x/..%2fapi/secret', '/x%2f..%2fapi/secret', '/page;a=b/..;/../api/x', '/api;v=1/secret'])(
    '%s is asked for a session as the json path is',
    (path) => {
      expect(at(path).pathType).toBe('json');
    },
  );

  test.each(['/login;x.css', '/login%2f.css', '/login%3bx.css'])('%s is not a style sheet', (path) => {
    expect(at(path).action).toBe('inherit');
  });

  test.each(['/robots.txt', '/favicon.ico', '/.well-known/security.txt'])('%s is exempt', (path) => {
    expect(at(path).exempt).toBe(true);
  });

  test.each([
    '/robots.txt/x',
    '/x/robots.txt',
    '/.well-known/..%2flogin',
    '/.well-known/x%2fsecurity.txt',
    '/.well-known/%2e%2e/login',
    '/.well-known/%252e%252e/login',
    '/.well-known/..%252flogin',
    '/login?/robots.txt',
    '/login;/robots.txt',
  ])('%s is not exempt', (path) => {
    expect(at(path).exempt).toBe(false);
  });

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
