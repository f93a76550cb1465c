/** What policies say about requests that somebody made to confuse them, and about what nobody knows. */
import { describe, expect, test } from 'vitest';
import type { Policy, PolicyAction } from '../../../src/contract/management/policy-set/policy.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { compilePolicies } from '../../../src/policies/compile/compile-policies.ts';
import type { PolicyRequest } from '../../../src/policies/request.ts';
import { parseExpression } from '../../../src/policies/text/parse.ts';
import { expectRows } from '../../support/rows.ts';

const quiet: PolicyRequest = {
  host: 'shop.example',
  method: 'GET',
  paths: ['/'],
  query: '',
  headers: new Headers(),
  cookie: null,
  ip: '192.0.2.1',
  asn: null,
  country: null,
  ja4: null,
  userAgent: '',
  deviceType: 'unknown',
  bot: null,
  agent: null,
  ipCategories: [],
  sessionStatus: 'none',
  riskScore: null,
  pathType: 'html',
};

function policy(
  text: string,
  then: PolicyAction = { action: 'block' },
  name = 'p',
  mode: Policy['mode'] = 'enforce',
): Policy {
  const when = parseExpression(text);
  if (!when.ok) throw new Error(`${text}: ${when.error.message}`);
  return { name, when: when.value, then, mode };
}

function applies(text: string, request: Partial<PolicyRequest>): boolean {
  return compilePolicies([policy(text)], new Set()).evaluate({ ...quiet, ...request }).verdict !== null;
}

function pathsOf(address: string): PolicyRequest['paths'] {
  const target = canonicalTarget(`https://shop.example${address}`);
  if (target === null) throw new Error('no target');
  return target.readings && [target.path, ...target.readings];
}

describe('a condition', () => {
  test('holds for the requests that it describes', () =>
    expectRows(
      [
        ['cookie["sid"] equals "b"', { cookie: 'sid=a; sid=b' }, true],
        ['cookie["sid"] equals "a b"', { cookie: 'x=1; sid="a b" ;y=2' }, true],
        ['cookie["sid"] equals "a"', { cookie: 'Sid=a; xsid=a; x=sid=a' }, false],
        ['cookie["sid"] equals "1,2"', { cookie: 'sid=1,2' }, true],
        ['cookie["sid"] equals "2"', { cookie: 'a=1, sid=2' }, true],
        ['cookie["sid"] exists', { cookie: 'sid' }, true],
        ['not cookie["sid"] exists', { cookie: null }, true],
        ['cookie["sid"] contains "a"', { cookie: null }, false],
        ['query["q"] equals "a b"', { query: '?q=a+b' }, true],
        ['query["q"] equals "é"', { query: '?q=x&q=%C3%A9' }, true],
        ['query["q"] equals "\ufffd"', { query: '?q=%E9' }, true],
        ['query["q"] equals "%zz%"', { query: '?q=%zz%' }, true],
        ['query["q"] equals "x"', { query: '?%71=x' }, true],
        ['query["a b"] exists', { query: '?a+b' }, true],
        ['query["q"] equals "1=2"', { query: '?q=1=2' }, true],
        ['header["x-test"] equals "A"', { headers: new Headers({ 'X-TEST': 'A' }) }, true],
        ['header["x-test"] equals "a"', { headers: new Headers({ 'X-TEST': 'A' }) }, false],
        ['header["x-test"] equals ""', { headers: new Headers() }, false],
        ['userAgent contains "BOT"', { userAgent: 'somebot/1' }, true],
        ['ip ipIn ["2001:db8::/32"]', { ip: '2001:db8:1::1' }, true],
        ['ip ipIn ["::ffff:192.0.2.0/120"]', { ip: '192.0.2.77' }, true],
        ['ip ipIn ["0.0.0.0/0"]', { ip: null }, false],
        ['riskScore greaterThan 0.5', { riskScore: 0.5 }, false],
        ['riskScore greaterThan 0', { riskScore: null }, false],
        ['bot["behaviour"] equals "search"', { bot: { id: 'a', behaviours: ['agent', 'search'], proof: 'dns' } }, true],
        ['bot["proof"] in ["range", "dns"]', { bot: { id: 'a', behaviours: [], proof: 'claimed' } }, false],
        ['agent equals "suspected"', { agent: 'suspected' }, true],
        ['agent exists', { agent: null }, false],
        ['path equals "/ä b"', { paths: ['/%C3%A4%20b'] }, true],
        ['path contains "/ä"', { paths: ['/x/%C3%A4'] }, true],
        ['path matches "/a/*/c"', { paths: ['/a/b/b/c'] }, false],
        ['path matches "/a/**/c"', { paths: ['/a/b/b/c'] }, true],
        ['path matches "*.php"', { paths: ['/a/b.php'] }, false],
        ['path matches "**.php"', { paths: ['/a/b.php'] }, true],
        ['path endsWith " "', { paths: ['/admin'] }, false],
        ['path endsWith " "', { paths: ['/admin%20'] }, true],
        ['path contains "a "', { paths: ['/api/v1/users'] }, false],
        ['path equals "/admin "', { paths: ['/admin'] }, false],
        ['path contains "\\t"', { paths: ['/admin'] }, false],
        ['path contains "a\\tb"', { paths: ['/ab'] }, false],
        ['path startsWith "/."', { paths: ['/admin'] }, false],
        ['path startsWith "/."', { paths: ['/.git/config'] }, true],
        ['path startsWith "/a/%2E"', { paths: ['/a/b'] }, false],
        ['path startsWith "/a/../b/.."', { paths: ['/c'] }, false],
        ['path startsWith "/a/../b/.."', { paths: ['/b/..c'] }, true],
        ['path contains "%2e%2e/x"', { paths: ['/x'] }, false],
        ['path contains "\\\\..\\\\"', { paths: ['/x'] }, false],
        ['path matches "/**/.."', { paths: ['/'] }, false],
        ['path contains "//x//xy"', { paths: ['/a/x/xy'] }, true],
        ['path contains "/x//x"', { paths: ['/ax'] }, false],
        ['path matches "/a/../b/*"', { paths: ['/b/c'] }, true],
        ['host matches "*.shop.example"', { host: 'a.b.shop.example' }, true],
      ] as const,
      ([text, request, wanted]) => {
        expect(applies(text, request as unknown as Partial<PolicyRequest>)).toBe(wanted);
      },
    ));

  test('about a path holds for every reading of an address', () =>
    expectRows(
      [
        '/admin',
        '/ADMIN',
        '/%61dmin',
        '/x/../admin',
        '//admin',
        '/x%2F..%2Fadmin',
        '/admin;v=1',
        '/.%2e/admin',
        '\\admin',
      ],
      (address) => {
        expect(
          applies('path startsWith "/admin"', { paths: pathsOf(address.startsWith('/') ? address : `/${address}`) }),
        ).toBe(true);
      },
    ));

  test('about a path holds where the path could be any', () => {
    const paths = pathsOf(`/${';%2f'.repeat(20_000)}`);
    expect(paths).toBeNull();
    expect(applies('path startsWith "/admin" and method equals "GET"', { paths })).toBe(true);
    expect(applies('path startsWith "/admin" and method equals "POST"', { paths })).toBe(false);
    const allow = compilePolicies([policy('path startsWith "/open"', { action: 'allow' })], new Set());
    expect(allow.evaluate({ ...quiet, paths }).verdict).toBeNull();
  });
});

describe('what a visitor pads', () => {
  const many = Array.from({ length: 1000 }, (_, index) => `sid=${index}`).join('; ');

  test.each([
    ['cookie["sid"] equals "evil"', { cookie: `${many}; sid=evil` }],
    ['query["sid"] equals "evil"', { query: `?${many.replaceAll('; ', '&')}&sid=evil` }],
    ['header["x-test"] endsWith "evil"', { headers: new Headers({ 'x-test': `${'x'.repeat(65_536)}evil` }) }],
  ])('does not hide it from a policy that blocks: %s', (text, request) => {
    const blocking = compilePolicies([policy(text)], new Set());
    expect(blocking.evaluate({ ...quiet, ...request })).toMatchObject({
      verdict: { action: 'block' },
      fired: [{ id: 'policy:p' }],
    });
    const allowing = compilePolicies([policy(text, { action: 'allow' })], new Set());
    expect(allowing.evaluate({ ...quiet, ...request }).verdict).toBeNull();
  });

  test('costs no more than one walk', () => {
    const policies = Array.from({ length: 200 }, (_, index) => policy(`cookie["c${index}"] matches "*a*a*a*b"`));
    const compiled = compilePolicies(policies, new Set());
    const cookie = Array.from({ length: 1000 }, (_, index) => `c${index}=${'a'.repeat(60)}`).join('; ');
    expect(compiled.evaluate({ ...quiet, cookie, query: `?${'%'.repeat(65_536)}` }).verdict).toBeNull();
  });

  test('names that objects have of their own are names like any other', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(applies(`query["${name}"] exists`, { query: '' })).toBe(false);
      expect(applies(`cookie["${name}"] equals "1"`, { cookie: `${name}=1` })).toBe(true);
    }
  });
});

describe('a list of policies', () => {
  test('leaves out what a newer release added, and the rest decides', () => {
    const newer = [
      { ...policy('ip exists'), when: { field: 'tlsVersion', operator: 'equals', value: '1.2' } },
      { ...policy('ip exists'), when: { field: 'path', operator: 'soundsLike', value: '/a' } },
      { ...policy('ip exists'), then: { action: 'tarpit' } },
      policy('ip exists', { action: 'limit', limit: 'gone' }),
      policy('ip exists', { action: 'challenge', level: 2 }, 'known'),
    ] as Policy[];
    const compiled = compilePolicies(newer, new Set(['logins']));
    expect(compiled).toMatchObject({ size: 1, skipped: 4 });
    expect(compiled.evaluate(quiet).verdict).toEqual({ name: 'known', action: 'challenge', level: 2 });
  });

  test('says of a logged request what it knows, and which policies depend on the rest', () => {
    const compiled = compilePolicies(
      [
        policy('header["x"] exists', { action: 'allow' }, 'by-header'),
        policy('method equals "POST" and cookie["sid"] exists', { action: 'allow' }, 'no-post'),
        policy('method equals "GET" and not query["q"] equals "1"', { action: 'limit', limit: 'l' }, 'by-query'),
        policy('path startsWith "/a"', { action: 'challenge' }, 'certain'),
        policy('cookie["sid"] exists', { action: 'block' }, 'after-the-end'),
      ],
      new Set(['l']),
    );
    const logged = { ...quiet, paths: ['/a/b'] as [string], headers: undefined, cookie: undefined, query: undefined };
    expect(compiled.preview(logged)).toMatchObject({
      outcome: { verdict: { name: 'certain' }, limits: [], fired: [{ id: 'policy:certain' }] },
      unsure: ['by-header', 'by-query'],
    });
  });
});
