/** Keys of requests: what is one key, what is another, and the larger networks and companions around them. */
import { describe, expect, test } from 'vitest';
import { HmacSha256 } from '../../../src/bytes/hmac-sha256.ts';
import { type KeySource, limitKeys, userName } from '../../../src/limits/limit-keys.ts';
import { expectRows } from '../../support/rows.ts';

const mac = new HmacSha256(new Uint8Array(32).fill(7));
const visitor: KeySource = {
  ip: '192.0.2.7',
  asn: 64_496,
  country: 'NL',
  ja4: 't13d1516h2_8daaf6152771_02713d6af862',
  session: 'ses_1',
  bot: 'googlebot',
  path: '/login',
  host: 'shop.example',
  header: (name) => (name === 'x-api-key' ? 'secret' : null),
  cookie: (name) => (name === 'sid' ? 'abc' : null),
  users: ['alice@example.com'],
};
const keys = (key: readonly string[], from: Partial<KeySource> = {}, name = 'login', algorithm = 'sliding') =>
  limitKeys({ name, key, windowSeconds: 60, algorithm }, { ...visitor, ...from }, (text) => mac.sign(text));
const own = (...asked: Parameters<typeof keys>) => keys(...asked).own;

describe('keys of a limit', () => {
  test('differ by a part where the limit names it, and not otherwise', () =>
    expectRows<[string, string[], Partial<KeySource>]>(
      [
        ['the address', ['ip'], { ip: '192.0.2.8' }],
        ['the /64', ['ip'], { ip: '2001:db8::1' }],
        ['the network', ['prefix'], { ip: '192.0.3.7' }],
        ['the AS', ['asn'], { asn: 64_497 }],
        ['the country', ['country'], { country: 'DE' }],
        ['the fingerprint', ['ja4'], { ja4: null }],
        ['the session', ['session'], { session: 'ses_2' }],
        ['the bot', ['bot'], { bot: null }],
        ['the path', ['path'], { path: '/login/2' }],
        ['the host', ['host'], { host: 'www.example' }],
        ['a header', ['header:x-api-key'], { header: () => 'other' }],
        ['a cookie', ['cookie:sid'], { cookie: () => null }],
        ['the user', ['user'], { users: ['bob'] }],
      ],
      ([, key, other]) => {
        expect(own(key, other)).not.toEqual(own(key));
        expect(own(['ip', 'host'], { ...other, ip: visitor.ip, host: visitor.host })).toEqual(own(['ip', 'host']));
      },
    ));

  test('addresses of one /64 are one key, and so are addresses of one /24 by prefix', () => {
    const other = { ip: '2001:db8:1:2:ffff::9' };
    expect(own(['ip'], { ip: '2001:db8:1:2::1' })).toEqual(own(['ip'], other));
    expect(own(['prefix'], { ip: '192.0.2.250' })).toEqual(own(['prefix']));
  });

  test('an IPv6 address has counts of its /56 and /48, which are larger; an IPv4 address has none', () => {
    const one = keys(['ip', 'country'], { ip: '2001:db8:1:2::1' });
    const sibling = keys(['ip', 'country'], { ip: '2001:db8:1:3::1' });
    const cousin = keys(['ip', 'country'], { ip: '2001:db8:1:aa00::1' });
    expect(one.wider.map(({ times }) => times)).toEqual([3, 10]);
    expect(sibling.own).not.toEqual(one.own);
    expect(sibling.wider).toEqual(one.wider);
    expect(cousin.wider[0]).not.toEqual(one.wider[0]);
    expect(cousin.wider[1]).toEqual(one.wider[1]);
    expect(keys(['prefix'], { ip: '2001:db8:1:2::1' }).wider.map(({ times }) => times)).toEqual([10]);
    expect(keys(['ip']).wider).toEqual([]);
  });

  test('a key of one written part alone has a companion: a hundred times the count for the network, whatever the visitor writes', () =>
    expectRows(['user', 'path', 'header:x-api-key', 'cookie:sid', 'ja4', 'bot', 'host'], (part) => {
      const change = { users: ['x'], path: '/x', header: () => 'x', cookie: () => 'x', ja4: 'x', bot: 'x', host: 'x' };
      const one = keys([part]);
      const other = keys([part], change);
      expect(other.own).not.toEqual(one.own);
      expect(other.wider).toEqual(one.wider);
      expect(one.wider.map(({ times }) => times)).toEqual([100]);
      expect(keys([part], { ip: '198.51.100.1' }).wider).not.toEqual(one.wider);
      // An AS and a country are shared by too many to be counted alone.
      for (const shared of ['asn', 'country']) expect(keys([part, shared], change).wider).toEqual(one.wider);
      expect(keys([part], { ip: '2001:db8:1:2::1' }).wider.map(({ times }) => times)).toEqual([100, 1000]);
    }));

  test('a key with an unwritten part has a companion of what the visitor cannot write alone', () =>
    expectRows(
      [
        [['ip', 'header:x-api-key'], { ip: '192.0.2.8' }],
        [['asn', 'cookie:sid', 'ip'], { ip: '192.0.2.8' }],
        [['prefix', 'ja4'], { ip: '192.0.3.7' }],
        [['session', 'path'], { session: 'ses_2' }],
        [['ip', 'user'], { ip: '192.0.2.8' }],
      ],
      ([key, other]) => {
        const written = { users: ['x'], path: '/x', header: () => 'x', cookie: () => 'x', ja4: 'x' };
        const one = keys(key);
        expect(keys(key, written).own).not.toEqual(one.own);
        expect(keys(key, written).wider).toEqual(one.wider);
        expect(one.wider.map(({ times }) => times)).toEqual([100]);
        expect(keys(key, other).wider).not.toEqual(one.wider);
      },
    ));

  test('a companion by address has the larger networks of the address around it', () => {
    const one = keys(['ip', 'header:x-api-key'], { ip: '2001:db8:1:2::1' });
    expect(one.wider.map(({ times }) => times)).toEqual([3, 10, 100, 300, 1000]);
    const cousin = keys(['ip', 'header:x-api-key'], { ip: '2001:db8:1:aa00::1', header: () => 'x' });
    expect(cousin.wider.filter(({ key }) => one.wider.some((other) => other.key === key))).toHaveLength(1);
  });

  test('keys that visitors write freely are marked, and those of their companions are not', () => {
    const { own: marked, wider } = keys(['ip', 'header:x-api-key']);
    expect([marked[0], wider[0]!.key]).toEqual([expect.stringMatching(/^~/), expect.not.stringMatching(/^~/)]);
    for (const key of [['ip'], ['prefix', 'country'], ['session', 'asn']]) expect(own(key)[0]).not.toMatch(/^~/);
  });

  test('requests without a part share a larger count within their /48', () => {
    const without = { session: null, ip: '2001:db8:1:2::1' };
    const one = keys(['session'], without);
    const cousin = keys(['session'], { ...without, ip: '2001:db8:1:aa00::1' });
    expect(one.wider.map(({ times }) => times)).toEqual([10]);
    expect(cousin.own).not.toEqual(one.own);
    expect(cousin.wider).toEqual(one.wider);
    expect(keys(['session'], { ip: '2001:db8:1:2::1' }).wider).toEqual([]);
  });

  test('requests without a part share a key within their network, and no header is that key', () => {
    const without = { header: () => null };
    expect(own(['header:x-api-key'], without)).toEqual(own(['header:x-api-key'], { ...without, ip: '192.0.2.99' }));
    expect(own(['header:x-api-key'], without)).not.toEqual(
      own(['header:x-api-key'], { ...without, ip: '198.51.100.1' }),
    );
    expect(own(['header:x-api-key'], without)).not.toEqual(own(['header:x-api-key'], { header: () => '-' }));
    expect(own(['ip'], { ip: null })).toEqual(own(['ip'], { ip: null, asn: 1 }));
  });

  test('parts cannot be moved into each other', () => {
    const two = ['header:a', 'header:b'];
    const header = (a: string, b: string) => (name: string) => (name === 'a' ? a : b);
    expect(own(two, { header: header('x\n1:y', 'z') })).not.toEqual(own(two, { header: header('x', 'y\n1:z') }));
  });

  test('a long value counts by its beginning', () => {
    const long = 'x'.repeat(1024);
    expect(own(['cookie:sid'], { cookie: () => `${long}1` })).toEqual(
      own(['cookie:sid'], { cookie: () => `${long}2` }),
    );
  });

  test('a path is one key in any letter case', () => {
    expect(own(['path'], { path: '/LOGIN' })).toEqual(own(['path']));
  });

  test('a form that names two users counts for both', () => {
    expect(own(['user'], { users: ['decoy', 'alice@example.com'] })).toContain(own(['user'])[0]);
  });

  test('a form that names two users counts for both in the larger networks, too', () => {
    const from = { ip: '2001:db8:1:2::1' };
    const both = keys(['ip', 'user'], { ...from, users: ['decoy', 'alice@example.com'] }).wider;
    const alice = keys(['ip', 'user'], from).wider;
    expect(both).toEqual(expect.arrayContaining([...alice]));
    const ofUsers = ({ times }: { times: number }) => times < 100;
    expect(both.filter(ofUsers)).toHaveLength(2 * alice.filter(ofUsers).length);
  });

  test('differ by limit and algorithm, are short, and say nothing of the visitor', () => {
    expect(own(['ip'], {}, 'api')).not.toEqual(own(['ip']));
    expect(own(['ip'], {}, 'login', 'bucket')).not.toEqual(own(['ip']));
    expect(own(['ip'])[0]).toMatch(/^[\w-]{16}$/);
  });
});

test('a user name is compared without case, width, accents and invisible characters', () =>
  expectRows(
    [
      [' Alice@Example.com ', 'alice@example.com'],
      ['Ａｌｉｃｅ', 'alice'],
      ['Vi\u0301ctor', 'victor'],
      ['v\u200bictor\u0000', 'victor'],
      ['\u200b', null],
      ['', null],
      ['   ', null],
      [`${' '.repeat(2000)}alice`, 'alice'],
    ],
    ([typed, name]) => {
      expect(userName(typed)).toBe(name);
    },
  ));

describe('what a key is made of', () => {
  test('is told apart from what comes before and after it', () => {
    const header = (one: string) => (one === 'a' ? 'A8:12345678' : null);
    const joined = limitKeys(
      { name: 'l', key: ['header:a'], windowSeconds: 1, algorithm: 'sliding' },
      { ...visitor, header },
      (text) => mac.sign(text),
    );
    const apart = limitKeys(
      { name: 'l', key: ['header:a', 'header:b'], windowSeconds: 11, algorithm: 'sliding' },
      { ...visitor, header: (one) => (one === 'a' ? 'A' : '12345678') },
      (text) => mac.sign(text),
    );
    expect(joined.own).not.toEqual(apart.own);
  });

  test('without a session, the /48 of a visitor is counted, and no other', () => {
    const wider = (ip: string) => keys(['session'], { session: null, ip }).wider;
    expect(wider('2001:db8:1::1')).toEqual(wider('2001:db8:1:ffff::1'));
    expect(wider('2001:db8:1::1').map(({ times }) => times)).toEqual([10]);
    expect(wider('2001:db8:1::1')).not.toEqual(wider('2001:db8:2::1'));
  });

  test('without an address, all visitors have one key', () => {
    for (const part of ['ip', 'prefix']) {
      expect(own([part], { ip: null })).toHaveLength(1);
      expect(own([part], { ip: null })).not.toEqual(own([part]));
      expect(keys([part], { ip: null }).wider).toEqual([]);
    }
  });
});
