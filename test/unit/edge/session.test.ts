/** The session cookie has five outcomes, and none needs a call. */
import { describe, expect, test } from 'vitest';
import { mintSessionJwt, type SessionClaims } from '../../../src/risk/session-token.ts';
import { paceWindow } from '../../../src/risk/pace.ts';
import { visitorBinding } from '../../../src/address/visitor-binding.ts';
import { Sessions } from '../../../src/edge/session/sessions.ts';
import type { Signals } from '../../../src/edge/request/signals.ts';
import { expectRows } from '../../support/rows.ts';
import { NOW_MS, configOf, signalsOf } from './edge-fixture.ts';

const config = await configOf();
const iat = NOW_MS / 1000;
const mint = async (changes: Partial<SessionClaims> = {}, kid = 'k2') => {
  const claims = {
    jti: 'jti-1',
    sub: 'inst_1',
    iat,
    exp: iat + 300,
    sxp: iat + 3600,
    risk: 0.1,
    bnd: await visitorBinding('192.0.2.1', 'Mozilla/5.0'),
    ...changes,
  };
  return `${claims.jti}|${await mintSessionJwt(config.sessionKeyOf('k2')!, kid, claims)}`;
};
const read = (
  value: string,
  changes: Partial<Signals> = {},
  nowMs = NOW_MS,
  sessions = new Sessions(() => false),
  under = config,
) => sessions.read(`x=1; protect_session=${value}`, under, signalsOf(changes), nowMs);

describe('session', () => {
  test('a valid session is active with its score, and a second request checks no signature', async () => {
    const sessions = new Sessions(() => false);
    const value = await mint();
    expect(await read(value, {}, NOW_MS, sessions)).toMatchObject({ status: 'active', jti: 'jti-1', riskScore: 0.1 });
    expect(read(value, {}, NOW_MS, sessions)).toMatchObject({ status: 'active' });
    expect(await read(encodeURIComponent(value))).toMatchObject({ status: 'active' });
  });

  test('has the status of its cookie', () =>
    expectRows<[string, () => Promise<string> | string, string]>(
      [
        ['no cookie value', () => '', 'none'],
        ['a bare jti', () => 'jti-1', 'invalid-session'],
        ['nonsense', () => '%%%|x', 'invalid-session'],
        ['a tampered JWT', async () => `${(await mint()).slice(0, -4)}AAAA`, 'invalid-session'],
        ['another jti before the bar', async () => (await mint()).replace('jti-1|', 'jti-2|'), 'invalid-session'],
        ['another instance', () => mint({ sub: 'inst_2' }), 'invalid-session'],
        ['an unknown key', () => mint({}, 'k9'), 'invalid-session'],
        ['expired', () => mint({ exp: iat - 1 }), 'session-not-found'],
        ['over', () => mint({ sxp: iat - 1 }), 'session-not-found'],
      ],
      async ([, make, status]) => {
        expect(await read(await make())).toMatchObject({ status, riskScore: null });
      },
    ));

  test('a good cookie counts behind bad ones of the same name', async () => {
    const bad = [
      '',
      'jti-1',
      '%%%|x',
      `jti-1|${'x'.repeat(5000)}`,
      await mint({}, 'k9'),
      await mint({ sub: 'inst_2' }),
    ];
    const header = [...bad, ...bad, await mint()].join('; protect_session=');
    expect(await read(header)).toMatchObject({ status: 'active', jti: 'jti-1' });
  });

  test('no more than 16 signatures of one request are checked', async () => {
    const forged = Array.from({ length: 300 }, (_, index) => `jti-${index}|a.b.c`);
    expect(await read([...forged, await mint()].join('; protect_session='))).toMatchObject({
      status: 'invalid-session',
    });
    let asked = 0;
    const counting = { ...config, sessionKeyOf: (kid: string) => (asked++, config.sessionKeyOf(kid)) };
    const shaped = (await mint()).replace('jti-1|', 'jti-2|');
    await read(
      Array.from({ length: 300 }, () => shaped).join('; protect_session='),
      {},
      NOW_MS,
      new Sessions(() => false),
      counting,
    );
    expect(asked).toBe(16);
  });

  test('a copied cookie is invalid, even where the owner’s was just verified', async () => {
    const sessions = new Sessions(() => false);
    const value = await mint();
    expect(await read(value, {}, NOW_MS, sessions)).toMatchObject({ status: 'active' });
    expect(await read(value, { ip: '203.0.113.1' }, NOW_MS, sessions)).toMatchObject({ status: 'invalid-session' });
    expect(await read(value, { userAgent: 'other' }, NOW_MS, sessions)).toMatchObject({ status: 'invalid-session' });
  });

  test('the highest score of a session stays', async () => {
    const sessions = new Sessions(() => false);
    expect(await read(await mint({ risk: 0.9 }), {}, NOW_MS, sessions)).toMatchObject({ riskScore: 0.9 });
    expect(await read(await mint({ risk: 0.2 }), {}, NOW_MS, sessions)).toMatchObject({ riskScore: 0.9 });
  });

  test('a score raised by the config counts at once', async () => {
    const raised = await configOf({}, { raisedJtis: [{ jti: 'jti-1', score: 0.95 }] });
    expect(await read(await mint(), {}, NOW_MS, new Sessions(() => false), raised)).toMatchObject({ riskScore: 0.95 });
  });

  test('a session is renewed in its last two minutes', async () => {
    const value = await mint();
    expect((await read(value, {}, NOW_MS + 100_000)).refresh).toBeNull();
    expect((await read(value, {}, NOW_MS + 200_000)).refresh).toBe(value.split('|')[1]);
  });

  test('with sessions off no session is required', async () => {
    expect(read('x', {}, NOW_MS, new Sessions(() => false), await configOf({ sessionsEnabled: false }))).toMatchObject({
      status: 'off',
    });
  });
});

describe('the service’s state of a session', () => {
  test('the parts of the score come from the source of the highest score', async () => {
    const sessions = new Sessions(() => false);
    const kind = await mint({ risk: 0.1, det: 1 });
    const strict = await mint({ risk: 0.6, det: 6 });
    expect(await read(kind, {}, NOW_MS, sessions)).toMatchObject({ riskScore: 0.1, detectors: 1 });
    expect(await read(strict, {}, NOW_MS, sessions)).toMatchObject({ riskScore: 0.6, detectors: 6 });
    expect(await read(kind, {}, NOW_MS, sessions)).toMatchObject({ riskScore: 0.6, detectors: 6 });
    const raised = await configOf({}, { raisedJtis: [{ jti: 'jti-1', score: 0.9, detectors: 7 }] });
    expect(await read(kind, {}, NOW_MS, sessions, raised)).toMatchObject({ riskScore: 0.9, detectors: 7 });
  });

  test('a withdrawn session is not found, and nothing is recorded under its id', async () => {
    const withdrawn = await configOf({}, { withdrawnJtis: ['jti-1'] });
    expect(await read(await mint(), {}, NOW_MS, new Sessions(() => false), withdrawn)).toEqual({
      status: 'session-not-found',
      jti: null,
      riskScore: null,
      detectors: 0,
      refresh: null,
      paid: null,
    });
  });

  test('a session whose JWT has expired is renewed behind the response, and an expired session is not', async () => {
    const idle = await mint({ exp: iat - 600 });
    expect(await read(idle)).toMatchObject({ status: 'session-not-found', refresh: idle.split('|')[1] });
    expect(await read(await mint({ exp: iat - 600, sxp: iat - 1 }))).toMatchObject({ refresh: null });
  });
});

test('a JWT that nobody can renew has its advance in each window', async () => {
  const paceOf = async (exp: number) => {
    const reading = await read(
      await mint({ exp, sxp: iat + 9000, pac: [3, 0, 0, 0, 3] }),
      {},
      NOW_MS,
      new Sessions(() => true),
    );
    return reading.paid?.advanced;
  };
  expect(await paceOf(iat + 100)).toBe(3);
  expect(await paceOf(iat - 3000)).toBe(paceWindow(NOW_MS));
});

test('an expired JWT counts for an hour while the service is away, and never after its session', async () => {
  const away = new Sessions(() => true);
  const over = await mint({ exp: iat - 3000, sxp: iat + 9000 });
  expect(await read(over, {}, NOW_MS, away)).toMatchObject({ status: 'active', refresh: over.split('|')[1] });
  expect(await read(over, {}, NOW_MS + 601_000, away)).toMatchObject({ status: 'session-not-found' });
  const ended = await mint({ exp: iat - 300, sxp: iat - 1 });
  expect(await read(ended, {}, NOW_MS, away)).toMatchObject({ status: 'session-not-found' });
  const withdrawn = await configOf({}, { withdrawnJtis: ['jti-1'] });
  expect(await read(over, {}, NOW_MS, away, withdrawn)).toMatchObject({ status: 'session-not-found' });
});

describe('two cookies with the session’s name', () => {
  test('an older cookie that comes first does not hide the valid one', async () => {
    const over = await mint({ exp: iat - 10 });
    const good = await mint({ jti: 'jti-2' });
    const read2 = (first: string, second: string) => read(`${first}; protect_session=${second}`);
    expect(await read2(over, good)).toMatchObject({ status: 'active', jti: 'jti-2' });
    expect(await read2('nonsense', over)).toMatchObject({ status: 'session-not-found', jti: 'jti-1' });
    expect(await read2('nonsense', 'more')).toMatchObject({ status: 'invalid-session' });
  });
});

describe('the memory of an isolate', () => {
  test('has one entry however a cookie is spelled, and none for a very long user agent', async () => {
    const sessions = new Sessions(() => false);
    const value = await mint();
    await read(value, {}, NOW_MS, sessions);
    const spelled = value.replaceAll('e', '%65');
    expect(read(spelled, {}, NOW_MS, sessions)).not.toBeInstanceOf(Promise);
    const userAgent = 'x'.repeat(2000);
    const long = await mint({ bnd: await visitorBinding('192.0.2.1', userAgent) });
    expect(await read(long, { userAgent }, NOW_MS, sessions)).toMatchObject({ status: 'active' });
    expect(read(long, { userAgent }, NOW_MS, sessions)).toBeInstanceOf(Promise);
  });
});
