/** The service's configuration: complete, or every mistake in it. */
import { describe, expect, test } from 'vitest';
import { readServiceEnvironment } from '../../../src/service/environment.ts';
import { expectRows } from '../../support/rows.ts';

const MASTER_KEY = 'dGVzdC1vbmx5LWtleS10aGF0LWlzLTMyLWJ5dGVzLSE';
const good = {
  SERVICE_URL: 'https://gatehouse.example.com',
  MASTER_KEY,
  DB: {},
  RULESETS: {},
  SEGMENTS: {},
  RULE_BOOK: {},
  VERDICT_SHARD: {},
  SPEND_LEDGER: {},
  RISK_BOOK: {},
  LIMIT_LEDGER: {},
  ATTACK_WATCH: {},
};
const mistakesIn = (variables: Record<string, unknown>): string[] => {
  const reading = readServiceEnvironment({ ...good, ...variables });
  return reading.ok ? [] : reading.error;
};

describe('a complete environment', () => {
  test('needs only bindings, an address and a key; the rest has defaults', () => {
    const reading = readServiceEnvironment(good);
    expect(reading).toMatchObject({
      ok: true,
      value: {
        serviceUrl: 'https://gatehouse.example.com',
        signals: { kind: 'cloudflare' },
        addressLookup: null,
        outbound: { resolverUrl: 'https://cloudflare-dns.com/dns-query', standIns: new Map(), allowsLoopback: false },
        signIn: {
          console: { origin: 'https://gatehouse.example.com', rpId: 'gatehouse.example.com', secure: true },
          oidc: null,
          access: null,
        },
        store: { DB: good.DB, MASTER_KEY, JURISDICTION: 'none', VERDICT_SHARDS: '1' },
      },
    });
  });

  test('carries every optional variable that is set', () => {
    const former = MASTER_KEY.toUpperCase().replace(/.$/, 'A');
    const reading = readServiceEnvironment({
      ...good,
      MASTER_KEY_PREVIOUS: former,
      JURISDICTION: 'eu',
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: 'a-secret-of-the-proxy',
      VERDICT_SHARDS: '1, 8@2027-01-01T00:00:00Z',
      ADDRESS_FACTS: '{"192.0.2.0/24": {"asn": 64496}}',
      OIDC_ISSUER: 'https://id.example.com/realm',
      OIDC_CLIENT_ID: 'gatehouse',
      OIDC_CLIENT_SECRET: 'secret',
      ACCESS_TEAM_DOMAIN: 'team.cloudflareaccess.com',
      ACCESS_AUD: 'tag',
      DNS_RESOLVER_URL: 'https://dns.example.com/resolve',
      BOT_STAND_INS: 'agent.test=http://127.0.0.1:9000 other.test=http://localhost:9000/other',
    });
    if (!reading.ok) throw new Error(reading.error.join());
    expect(reading.value).toMatchObject({
      signals: { kind: 'headers', secret: 'a-secret-of-the-proxy' },
      outbound: {
        resolverUrl: 'https://dns.example.com/resolve',
        standIns: new Map([
          ['agent.test', 'http://127.0.0.1:9000'],
          ['other.test', 'http://localhost:9000/other'],
        ]),
      },
      signIn: {
        oidc: { issuer: 'https://id.example.com/realm', clientId: 'gatehouse', clientSecret: 'secret' },
        access: { issuer: 'https://team.cloudflareaccess.com', audience: 'tag' },
      },
      store: { MASTER_KEY_PREVIOUS: former, JURISDICTION: 'eu', VERDICT_SHARDS: '1, 8@2027-01-01T00:00:00Z' },
    });
    expect(reading.value.addressLookup?.('192.0.2.1')?.asn).toBe(64_496);
  });
});

describe('how agents and names are reached', () => {
  test('no variable for them takes a malformed or private address', () =>
    expectRows(
      [
        ['DNS_RESOLVER_URL', 'http://dns.example.com/resolve'],
        ['DNS_RESOLVER_URL', 'https://dns.example.com/resolve?a=b'],
        ['DNS_RESOLVER_URL', 'dns.example.com'],
        ['BOT_STAND_INS', 'agent.test'],
        ['BOT_STAND_INS', 'agent.test=https://example.com'],
        ['BOT_STAND_INS', 'agent.test=http://10.0.0.1:9000'],
        ['BOT_STAND_INS', 'agent.test=http://127.0.0.1:9000@example.com'],
        ['LOOPBACK_HOSTS', 'allow'],
      ],
      ([name, value]) => {
        expect(mistakesIn({ [name]: value })).toEqual([expect.stringContaining(name)]);
      },
    ));
});

test('servers of the same machine may be called only where the service is one itself', () => {
  const allows = (loopback: string): boolean | undefined => {
    const local = { ...good, SERVICE_URL: 'http://127.0.0.1:8801', LOOPBACK_HOSTS: loopback };
    const reading = readServiceEnvironment(local);
    return reading.ok ? reading.value.outbound.allowsLoopback : undefined;
  };
  expect([allows('allow'), allows(''), allows('10.0.0.1')]).toEqual([true, false, undefined]);
});

describe('the place of the console', () => {
  const placeFor = (serviceUrl: string) => {
    const reading = readServiceEnvironment({ ...good, SERVICE_URL: serviceUrl });
    return reading.ok ? reading.value.signIn.console : undefined;
  };

  test.each(['http://127.0.0.1:8801', 'http://localhost:8801', 'http://[::1]:8801'])(
    'is localhost for %s, because a passkey cannot belong to an address',
    (url) => {
      expect(placeFor(url)).toEqual({
        origin: 'http://localhost:8801',
        rpId: 'localhost',
        cookieName: 'gatehouse',
        secure: false,
      });
    },
  );

  test('is nowhere over http on another host, where a cookie would travel in clear', () => {
    expect(placeFor('http://gatehouse.example.com')).toBeNull();
  });
});

describe('a mistake', () => {
  test('is one line that names the variable', () =>
    expectRows(
      [
        ['SERVICE_URL', ''],
        ['SERVICE_URL', 'gatehouse.example.com'],
        ['SERVICE_URL', 'ftp://gatehouse.example.com'],
        ['SERVICE_URL', 'https://gatehouse.example.com/'],
        ['SERVICE_URL', 'https://user:pass@gatehouse.example.com'],
        ['SERVICE_URL', 'https://gatehouse.example.com?a=1'],
        ['MASTER_KEY', undefined],
        ['MASTER_KEY', 'c2hvcnQ'],
        ['MASTER_KEY', `${MASTER_KEY}=`],
        ['MASTER_KEY', `${MASTER_KEY}\n`],
        ['MASTER_KEY_PREVIOUS', 'c2hvcnQ'],
        ['JURISDICTION', 'de'],
        ['SIGNALS_SOURCE', 'proxy'],
        ['VERDICT_SHARDS', '0'],
        ['VERDICT_SHARDS', '1.5'],
        ['VERDICT_SHARDS', '257'],
        ['VERDICT_SHARDS', '1@2027-01-01T00:00:00Z'],
        ['VERDICT_SHARDS', '1,8'],
        ['VERDICT_SHARDS', '1,8@tomorrow'],
        ['VERDICT_SHARDS', '1,8@2027-01-01T00:00:00Z,16@2026-01-01T00:00:00Z'],
        ['BOT_RANGES_BASE', 'mirror.example.com'],
        ['BOT_RANGES_BASE', 'https://mirror.example.com/'],
        ['ADDRESS_FACTS', '{'],
        ['ADDRESS_FACTS', '{"192.0.2.0/33": {}}'],
        ['DB', undefined],
        ['RULESETS', undefined],
        ['SEGMENTS', 'a text'],
        ['RULE_BOOK', null],
        ['VERDICT_SHARD', undefined],
        ['SPEND_LEDGER', undefined],
        ['RISK_BOOK', undefined],
        ['LIMIT_LEDGER', undefined],
        ['ATTACK_WATCH', undefined],
      ],
      ([name, value]) => {
        expect(mistakesIn({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} `))]);
      },
    ));

  test('in a way to sign in is one line', () =>
    expectRows(
      [
        [{ OIDC_ISSUER: 'https://id.example.com' }, /^OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET /],
        [{ OIDC_CLIENT_SECRET: 'leaked' }, /^OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET /],
        [
          { OIDC_ISSUER: 'http://id.example.com', OIDC_CLIENT_ID: 'a', OIDC_CLIENT_SECRET: 'b' },
          /^OIDC_ISSUER must be an https address/,
        ],
        [{ ACCESS_AUD: 'alone' }, /^ACCESS_TEAM_DOMAIN and ACCESS_AUD /],
        [{ ACCESS_TEAM_DOMAIN: 'http://team.example.com', ACCESS_AUD: 'a' }, /^ACCESS_TEAM_DOMAIN must be a host/],
        [{ ACCESS_TEAM_DOMAIN: 'team.example.com/path', ACCESS_AUD: 'a' }, /^ACCESS_TEAM_DOMAIN must be a host/],
      ],
      ([variables, line]) => {
        expect(mistakesIn(variables)).toEqual([expect.stringMatching(line)]);
      },
    ));

  test('in SIGNALS_SECRET is one only where the headers of a proxy are read', () => {
    const mistakes = mistakesIn({ SIGNALS_SOURCE: 'headers', SIGNALS_SECRET: 'short' });
    expect(mistakes).toEqual([expect.stringMatching(/^SIGNALS_SECRET /)]);
    expect(mistakesIn({ SIGNALS_SOURCE: 'cloudflare', SIGNALS_SECRET: 'short' })).toEqual([]);
  });

  test('does not hide another: all are reported at once', () => {
    const reading = readServiceEnvironment({
      SIGNALS_SOURCE: 'headers',
      JURISDICTION: 'de',
      ADDRESS_FACTS: '[]',
      VERDICT_SHARDS: 'x',
    });
    const mistakes = reading.ok ? [] : reading.error;
    expect(mistakes.map((line) => line.slice(0, line.indexOf(' '))).toSorted()).toEqual([
      'ADDRESS_FACTS',
      'ATTACK_WATCH',
      'DB',
      'JURISDICTION',
      'LIMIT_LEDGER',
      'MASTER_KEY',
      'RISK_BOOK',
      'RULESETS',
      'RULE_BOOK',
      'SEGMENTS',
      'SERVICE_URL',
      'SIGNALS_SECRET',
      'SPEND_LEDGER',
      'VERDICT_SHARD',
      'VERDICT_SHARDS',
    ]);
  });

  test('never repeats a secret', () => {
    const text = mistakesIn({
      MASTER_KEY: 'leaked-master-key',
      MASTER_KEY_PREVIOUS: 'leaked-former-key',
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: 'leaked-signals',
      SERVICE_URL: 'https://user:leaked-password@gatehouse.example.com',
    }).join('\n');
    expect(text).not.toContain('leaked');
    expect(text.split('\n')).toHaveLength(4);
  });
});
