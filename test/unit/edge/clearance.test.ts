/** Clearance: what it lifts, for whom and for how long, and which cookies are none. */
import { SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import {
  type ClearanceClaims,
  clearanceCookie,
  Clearances,
  type LearnNetwork,
  newClearance,
} from '../../../src/edge/session/clearances.ts';
import type { Signals } from '../../../src/edge/request/signals.ts';
import { expectRows } from '../../support/rows.ts';
import { serviceSaid } from '../../support/service-client.ts';
import { NOW_MS, configOf, factsOf, signalsOf } from './edge-fixture.ts';

/** The service's ledger: the network of the first call, for every isolate. */
function ledger(): LearnNetwork {
  const learned = new Map<string, string>();
  return async ({ jti, network }) => serviceSaid(learned.get(jti) ?? (learned.set(jti, network), network));
}

const config = await configOf();
const solved = { jti: 'jti-1', level: 1, kind: 'pow', powDifficulty: 4, eased: false } as const;
const claims = await newClearance(config, factsOf('/', { nowMs: NOW_MS }), solved, null);
const cookie = (await clearanceCookie(claims, config, NOW_MS)).split(';', 1)[0]!;
const token = cookie.slice(cookie.indexOf('=') + 1);

/** A request that shows a cookie. */
function shown(cookieHeader: string, changes: Partial<Signals> = {}, nowMs = NOW_MS, fetchDest = 'document') {
  const headers = { ...factsOf().headers, cookie: cookieHeader, fetchDest };
  return factsOf('/', { headers, signals: signalsOf(changes), nowMs });
}
const read = (value: string, changes: Partial<Signals> = {}, nowMs = NOW_MS + 1000, grace = false) =>
  new Clearances(ledger()).read(
    shown(`a=b; __Host-protect-clearance=${value}`, changes, nowMs, grace ? 'empty' : 'document'),
    config,
  );
const signed = (changes: Partial<ClearanceClaims>, kid = 'k2', under = config.keys.current.clearance) =>
  new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'HS256', kid }).sign(under);

describe('clearance', () => {
  test('can be read repeatedly, with its level', async () => {
    const clearances = new Clearances(ledger());
    const once = () => clearances.read(shown(cookie), config);
    expect(await once()).toMatchObject({ jti: 'jti-1', level: 1 });
    expect(once()).not.toBeInstanceOf(Promise);
    expect(once()).toMatchObject({ level: 1 });
  });

  test('is valid for its network and no other', async () => {
    expect(await read(token, { ip: '192.0.2.254' })).toMatchObject({ level: 1 });
    expect(await read(token, { ip: '192.0.3.1' })).toBeNull();
    expect(await read(token, { userAgent: 'curl' })).toBeNull();
  });

  test('a cookie verified for one visitor is not valid for the next', async () => {
    const clearances = new Clearances(ledger());
    expect(await clearances.read(shown(cookie), config)).not.toBeNull();
    expect(await clearances.read(shown(cookie, { ip: '203.0.113.1' }), config)).toBeNull();
    expect(await clearances.read(shown(cookie, { userAgent: 'curl' }), config)).toBeNull();
  });

  test('is aged after `clearanceSeconds`; calls of an open page have sixty seconds more', async () => {
    const end = claims.exp * 1000;
    expect(claims.exp - claims.iat).toBe(1800);
    expect(await read(token, {}, end - 1)).toMatchObject({ isAged: false });
    expect(await read(token, {}, end)).toMatchObject({ isAged: true });
    expect(await read(token, {}, end + 59_000, true)).toMatchObject({ isAged: false });
    expect(await read(token, {}, end + 60_000, true)).toMatchObject({ isAged: true });
  });

  test('expires after a day; that of an older edge after `clearanceSeconds`', async () => {
    const end = (claims.iat + 86_400) * 1000;
    expect(await read(token, {}, end - 1)).not.toBeNull();
    expect(await read(token, {}, end)).toBeNull();
    const older = await signed({ until: undefined as never });
    expect(await read(older, {}, claims.exp * 1000 - 1)).not.toBeNull();
    expect(await read(older, {}, claims.exp * 1000)).toBeNull();
  });

  test('a malformed or foreign cookie is no clearance', () =>
    expectRows<[string, () => Promise<string> | string]>(
      [
        ['tampered', () => `${token.slice(0, -4)}AAAA`],
        ['unsigned, with alg none', () => new UnsecuredJWT({ ...claims }).encode()],
        ['of an unknown key id', () => signed({}, 'k9')],
        ['of another key', async () => signed({}, 'k2', (await configOf({}, {})).keys.byKid.get('k1')!.clearance)],
        ['of another instance', () => signed({ sub: 'inst_2' })],
        ['from the future', () => signed({ iat: NOW_MS / 1000 + 600 })],
        ['of another host', () => signed({ host: 'other.test' })],
        ['without a level', () => signed({ level: undefined as never })],
        ['without a kind', () => signed({ kind: undefined as never })],
        ['of a kind that does not exist', () => signed({ kind: 'constructor' as never })],
        ['without a difficulty', () => signed({ powDifficulty: undefined as never })],
        ['nonsense', () => 'x.y.z'],
        ['empty', () => ''],
        ['huge', () => 'x'.repeat(100_000)],
      ],
      async ([, make]) => {
        expect(await read(await make())).toBeNull();
      },
    ));

  test('a clearance of the previous key is still valid', async () => {
    expect(await read(await signed({}, 'k1', config.keys.byKid.get('k1')!.clearance))).not.toBeNull();
  });

  test('after a key rotation remembered clearances are checked again', async () => {
    const clearances = new Clearances(ledger());
    expect(await clearances.read(shown(cookie), config)).not.toBeNull();
    const rotated = await configOf(
      {},
      {
        keys: {
          current: {
            kid: 'k3',
            clearance: Buffer.alloc(32, 50).toString('base64url'),
            session: Buffer.alloc(32, 51).toString('base64url'),
            seal: Buffer.alloc(32, 52).toString('base64url'),
            originSignature: Buffer.alloc(32, 53).toString('base64url'),
          },
          previous: null,
        },
      },
    );
    expect(await clearances.read(shown(cookie), rotated)).toBeNull();
  });

  test('the visitor’s other address family is learned once, from the same ASN and country', async () => {
    const clearances = new Clearances(ledger());
    const from = (ip: string, changes: Partial<Signals> = {}) =>
      clearances.read(shown(cookie, { ip, ...changes }), config);
    expect(await from('2001:db8::1', { asn: 64_497 })).toBeNull();
    expect(await from('2001:db8::1', { countryCode: 'FR' })).toBeNull();
    const first = await from('2001:db8::1');
    expect(first?.learned?.v6).toBeTruthy();
    expect(await from('2001:db8:0:1::1')).toBeNull();
    const learned = await clearanceCookie(first!.learned!, config, NOW_MS);
    const again = new Clearances(ledger());
    const both = (ip: string) => again.read(shown(learned.split(';', 1)[0]!, { ip }), config);
    expect(await both('2001:db8::2')).toMatchObject({ learned: null });
    expect(await both('192.0.2.9')).toMatchObject({ learned: null });
    expect(await both('2001:db8:0:1::1')).toBeNull();
  });

  test('a copy in another browser learns no network, and its owner still learns theirs', async () => {
    const clearances = new Clearances(ledger());
    const thief = shown(cookie, { ip: '2001:db8::1', userAgent: 'Chrome' });
    expect(await clearances.read(thief, config)).toBeNull();
    expect(await clearances.read(shown(cookie, { ip: '2001:db8:0:1::1' }), config)).toMatchObject({ level: 1 });
  });

  test('one further network is learned, whichever isolates are asked', async () => {
    const shared = ledger();
    const isolates = Array.from({ length: 4 }, () => new Clearances(shared));
    const readings = await Promise.all(
      isolates.map(async (isolate, index) => isolate.read(shown(cookie, { ip: `2001:db8:0:${index}::1` }), config)),
    );
    expect(readings.filter((reading) => reading !== null)).toHaveLength(1);
    const owner = readings.findIndex((reading) => reading !== null);
    const elsewhere = isolates[(owner + 1) % isolates.length]!;
    const again = await elsewhere.read(shown(cookie, { ip: `2001:db8:0:${owner}::2` }), config);
    expect(again).toMatchObject({ learned: { v4: claims.v4 } });
  });

  test.each<[string, LearnNetwork | null]>([
    ['there is no ledger', null],
    ['the ledger does not respond', async () => serviceSaid<string>(null)],
  ])('no other network is learned where %s', async (_, learn) => {
    const reading = await new Clearances(learn).read(shown(cookie, { ip: '2001:db8::1' }), config);
    expect(reading).toBeNull();
  });

  test('a cookie of an older edge, which does not name the browser, counts in its own network only', async () => {
    const older = await signed({ agent: undefined as never });
    expect(await read(older)).toMatchObject({ level: 1 });
    expect(await read(older, { ip: '2001:db8::1' })).toBeNull();
  });

  test('a visitor without a known address is in no network that could be learned', async () => {
    const sixth = await signed({ v4: null, v6: claims.v4 });
    expect(await read(sixth, { ip: null })).toBeNull();
  });
});
