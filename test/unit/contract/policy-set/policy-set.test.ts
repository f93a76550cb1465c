/** An instance's policies and limits: defaults, references between them, and errors that name the bad item. */
import { describe, expect, test } from 'vitest';
import { policySet } from '../../../../src/contract/management/policy-set/policy-set.ts';
import { expectRows } from '../../../support/rows.ts';

const when = { field: 'path', operator: 'startsWith', value: '/api' };
const policy = { name: 'api', when, then: { action: 'challenge' } };
const limit = { name: 'logins', key: ['ip'], count: 5, windowSeconds: 60 };

function problemsOf(set: object): string[] {
  return policySet.safeParse(set).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}

describe('a policy set', () => {
  test('is empty by default', () => {
    expect(policySet.parse({})).toEqual({ policies: [], limits: [], origins: {} });
  });

  test('fills in what policies and limits leave out', () => {
    const redirect = { action: 'redirect', location: '/closed' };
    expect(policySet.parse({ policies: [{ ...policy, then: redirect }], limits: [limit] })).toEqual({
      policies: [{ ...policy, then: { ...redirect, status: 302 }, mode: 'enforce' }],
      limits: [{ ...limit, algorithm: 'sliding', on: 'request', then: '429', exact: false, mode: 'enforce' }],
      origins: {},
    });
  });

  test('a limit by user challenges unless it says otherwise, because a refusal locks the user out', () => {
    const byUser = { ...limit, key: ['ip', 'user'], loginFailed: { status: [401], usernameField: 'email' } };
    const thenOf = (given: object) => policySet.parse({ limits: [given] }).limits[0]?.then;
    expect(thenOf(byUser)).toBe('challenge');
    for (const then of ['429', 'block', 'challenge']) expect(thenOf({ ...byUser, then })).toBe(then);
    expect(thenOf({ ...byUser, key: ['ip'] })).toBe('429');
  });

  test('accepts what it gave back', () => {
    const once = policySet.parse({ policies: [policy], limits: [limit] });
    expect(policySet.parse(once)).toEqual(once);
  });

  test('redirects to public addresses and paths only', () =>
    expectRows(
      [
        ['/closed?from=gate#top', true],
        ['https://status.shop.example/', true],
        ['//evil.example', false],
        ['/\\evil.example', false],
        ['https:///evil.example', false],
        ['https://', false],
        ['http://shop.example/', false],
        ['javascript:alert(1)', false],
        ['/a b', false],
        ['/a\r\nx: y', false],
        ['/ä', false],
        ['/a^b', false],
        ['closed', false],
      ],
      ([location, accepted]) => {
        const then = { action: 'redirect', location };
        expect(policySet.safeParse({ policies: [{ ...policy, then }] }).success).toBe(accepted);
      },
    ));

  test('is refused with each mistake, and the error names it', () =>
    expectRows(
      [
        ['two policies of a name', { policies: [policy, policy] }, 'policies.1.name: must be unique'],
        ['two limits of a name', { limits: [limit, limit] }, 'limits.1.name: must be unique'],
        [
          "the gate's own name",
          { policies: [{ ...policy, name: 'hosts' }] },
          'policies.0.name: is the name of a policy',
        ],
        ['a name in capitals', { policies: [{ ...policy, name: 'Api' }] }, 'policies.0.name: must have 1 to 48'],
        [
          'a limit that is not there',
          { policies: [policy, { ...policy, name: 'b', then: { action: 'limit', limit: 'none' } }], limits: [limit] },
          'policies.1.then.limit: must name a limit; there is none named "none"',
        ],
        [
          'an action that is not there',
          { policies: [{ ...policy, then: { action: 'drop' } }] },
          'policies.0.then.action: ',
        ],
        [
          'an unknown level',
          { policies: [{ ...policy, then: { action: 'challenge', level: 3 } }] },
          'policies.0.then.level: ',
        ],
        [
          'a bad test inside a condition',
          { policies: [policy, { ...policy, name: 'b', when: { and: [when, { not: { field: 'x' } }] } }] },
          'policies.1.when.and.1.not.field: must be one of',
        ],
        ['a window of 0', { limits: [{ ...limit, windowSeconds: 0 }] }, 'limits.0.windowSeconds: '],
        ['a count of 0', { limits: [{ ...limit, count: 0 }] }, 'limits.0.count: '],
        ['a key without parts', { limits: [{ ...limit, key: [] }] }, 'limits.0.key: '],
        ['a key part twice', { limits: [{ ...limit, key: ['ip', 'ip'] }] }, 'limits.0.key: must not have a part twice'],
        ['a key by no header', { limits: [{ ...limit, key: ['header:a b'] }] }, 'limits.0.key.0: must be one of ip'],
        ['an event that is not there', { limits: [{ ...limit, on: 'status:6xx' }] }, 'limits.0.on: must be request'],
        ['no sign of a failed log-in', { limits: [{ ...limit, on: 'loginFailed' }] }, 'limits.0.loginFailed: must say'],
        ['a user without a field', { limits: [{ ...limit, key: ['user'] }] }, 'limits.0.key: needs loginFailed'],
        [
          'failed challenges by what is not sent with them',
          { limits: [{ ...limit, on: 'challengeFailed', key: ['ip', 'session'] }] },
          'limits.0.key: must have only ip, prefix, asn and country',
        ],
        ['a fallback of a fast limit', { limits: [{ ...limit, ifUnreachable: 'open' }] }, 'limits.0.ifUnreachable: '],
        ['an exact count of answers', { limits: [{ ...limit, exact: true, on: 'status:401' }] }, 'limits.0.exact: '],
        ['1,001 policies', { policies: Array.from({ length: 1001 }, () => policy) }, 'policies: '],
        [
          'an origin that is not there',
          { policies: [{ ...policy, then: { action: 'origin', origin: 'none' } }], origins: { api: { kind: 'zone' } } },
          'policies.0.then.origin: must name an origin; there is none named "none"',
        ],
        [
          'a name that every object has',
          { policies: [{ ...policy, then: { action: 'origin', origin: 'constructor' } }] },
          'policies.0.then.origin: must name an origin',
        ],
        [
          'two origins of a host',
          { origins: { a: { kind: 'zone', hosts: ['shop.test'] }, b: { kind: 'zone', hosts: ['SHOP.test'] } } },
          'origins.b.hosts.0: must be unique',
        ],
        [
          'a host with a port',
          { origins: { a: { kind: 'zone', hosts: ['shop.test:80'] } } },
          'origins.a.hosts.0: must be',
        ],
        [
          'a binding of the edge',
          { origins: { a: { kind: 'binding', binding: 'SERVICE' } } },
          'origins.a.binding: must',
        ],
        [
          '21 origins',
          { origins: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`o${index}`, { kind: 'zone' }])) },
          'origins: must have at most 20 origins',
        ],
      ],
      ([, set, problem]) => {
        expect(problemsOf(set)[0]).toContain(problem);
      },
    ));

  test('has an origin at a public address only', () =>
    expectRows(
      [
        ['https://origin.shop.example/base', true],
        ['http://origin.shop.example:8080', true],
        ['http://127.0.0.1:8080', true],
        ['https://origin.shop.example./', true],
        ['https://user:secret@origin.shop.example', false],
        ['https://origin.shop.example?x=1', false],
        ['https://origin.shop.example#x', false],
        ['ftp://origin.shop.example', false],
        ['https://intranet', false],
        ['https://wiki.internal', false],
        ['https://printer.local.', false],
        ['https://api.localhost', false],
        ['http://10.0.0.1', false],
        ['http://192.168.1.1:8080/', false],
        ['http://169.254.169.254/latest/meta-data', false],
        ['http://0x7f.1', true],
        ['http://127.1.2.3', false],
        ['http://2130706434', false],
        ['http://0xa000001', false],
        ['http://[::ffff:10.0.0.1]', false],
        ['http://[fd00::1]', false],
        ['http://203.0.113.7', false],
        ['https:\\\\10.0.0.1', false],
        ['https://origin.shop.example\\@10.0.0.1', false],
        ['https://origin.shop.example/ a', false],
      ],
      ([url, accepted]) => {
        expect(policySet.safeParse({ origins: { a: { kind: 'url', url } } }).success).toBe(accepted);
      },
    ));

  test('is refused above 512 KiB, and says how large it is', () => {
    const value = Array.from({ length: 500 }, (_, index) => `/${'x'.repeat(500)}${index}`);
    const policies = Array.from({ length: 3 }, (_, index) => ({
      ...policy,
      name: `p${index}`,
      when: { field: 'path', operator: 'in', value },
    }));
    expect(problemsOf({ policies })[0]).toMatch(/^: must have at most 524288 bytes; it has 7\d{5}$/);
  });

  test('is refused for a condition of any depth', () => {
    let deep: unknown = when;
    for (let level = 0; level < 100_000; level++) deep = { and: [deep] };
    expect(problemsOf({ policies: [{ ...policy, when: deep }] })[0]).toContain('is nested deeper than 32 levels');
  });
});
