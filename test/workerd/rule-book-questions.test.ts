/** Questions of operators about their rules: explain, preview, and rules that cannot match. */
import { describe, expect, test } from 'vitest';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

describe('a rule on a signal that no logged request had', () => {
  const rulesOfTheTest = [
    { type: 'ja4Hash', value: 't13d1516h2_8daaf6152771_02713d6af862', verdict: 'block' },
    { type: 'asn', value: 64496, verdict: 'block' },
    { type: 'ip', value: '192.0.2.1', verdict: 'block' },
  ];

  test('is marked once requests are logged without the signal', async () => {
    const { rules, jwt, id } = await newInstance();
    const records = [verdictRecordOf(id, { timestamp: testNow() - 1000, ja4: null, asn: 64497 })];
    await sendVerdicts(jwt, 'one', records);
    await rules('/create', { rules: rulesOfTheTest });
    for (const query of [{}, { limit: 10 }]) {
      const { body } = await rules('', query);
      expect(body.unseenSignals).toEqual(['ja4Hash']);
      expect(body.rules.filter((rule: any) => rule.signalUnseen).map((rule: any) => rule.type)).toEqual(['ja4Hash']);
    }
    const again = await rules('/create', { rules: (await rules('', {})).body.rules });
    expect(again.body).toMatchObject({ unchanged: 3 });
  });

  test('is not marked while nothing is logged', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: rulesOfTheTest });
    expect((await rules('', {})).body.unseenSignals).toEqual([]);
  });
});

describe('explain', () => {
  const rulesOfTheTest = [
    { type: 'ip', value: '192.0.2.1', verdict: 'allow' },
    { type: 'ipMask', value: '192.0.2.0/24', verdict: 'block' },
    { type: 'ipMask', value: '192.0.0.0/16', verdict: 'allow', mode: 'monitor' },
    { type: 'asn', value: 64496, verdict: 'challenge' },
    { type: 'userAgent', value: 'Ünüsual', verdict: 'block' },
    { type: 'countryCode', value: 'NL', verdict: 'block', expiry: '2020-01-01T00:00:00Z', expired: true },
  ];

  test('says what decides, and by which rule', () =>
    expectRows(
      [
        [{ ip: '192.0.2.1' }, 'allow', 'ip:192.0.2.1'],
        [{ ip: '192.0.2.9' }, 'block', 'ipMask:192.0.2.0/24'],
        [{ ip: '::ffff:192.0.2.9' }, 'block', 'ipMask:192.0.2.0/24'],
        [{ ip: '192.0.9.9' }, 'allow', 'default'],
        [{ ip: '192.0.9.9', asn: 64496 }, 'challenge', 'asn:64496'],
        [{ userAgent: 'A vERY ÜNÜSUAL one', asn: 'AS64496' }, 'block', 'userAgent:ünüsual'],
        [{ countryCode: 'nl' }, 'allow', 'default'],
        [{}, 'allow', 'default'],
      ],
      async ([signals, decision, decidedBy]) => {
        const { rules } = await newInstance();
        await rules('/create', { rules: rulesOfTheTest });
        const { status, body } = await rules('/explain', signals);
        expect(status).toBe(200);
        expect(body).toMatchObject({ decision, decidedBy, version: 1, enforcementPolicy: 'enforce' });
        expect(body.explain).toContain('ruleset version 1');
      },
    ));

  test('lists every rule that fires, with its mode', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: rulesOfTheTest });
    const { body } = await rules('/explain', { ip: '192.0.2.1', asn: 64496 });
    expect(body.firedRules.map((rule: any) => `${rule.id} ${rule.mode}`)).toEqual([
      'ip:192.0.2.1 enforce',
      'ipMask:192.0.2.0/24 enforce',
      'ipMask:192.0.0.0/16 monitor',
      'asn:64496 enforce',
    ]);
  });

  test('refuses unknown signals', async () => {
    const { rules } = await newInstance();
    const { status, body } = await rules('/explain', { ip: '1.2.3', ja4: 'x' });
    expect(status).toBe(400);
    expect(body.error.details.map((detail: any) => detail.path)).toEqual(['ip', 'ja4']);
  });
});

describe('preview', () => {
  test('counts logged requests that the new rules would decide differently, and stores nothing', async () => {
    const { rules, jwt, id } = await newInstance();
    const timestamp = testNow() - 60_000;
    const records = Array.from({ length: 30 }, (_, i) =>
      verdictRecordOf(id, { timestamp: timestamp + i, ip: `192.0.2.${i}`, request_path: `/page/${i}` }),
    );
    const sent = await sendVerdicts(jwt, 'batch-of-this-test', records);
    expect(await sent.json()).toMatchObject({ accepted: 30 });
    const { status, body } = await rules('/preview', {
      rules: [
        { type: 'ipMask', value: '192.0.2.0/28', verdict: 'block' },
        { type: 'ip', value: '192.0.2.3', verdict: 'allow' },
      ],
      since: new Date(timestamp).toISOString(),
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      examined: 30,
      complete: true,
      allowedRequestsIncluded: true,
      changed: 15,
      changedAddresses: 15,
      changes: [{ from: 'allow', to: 'block', requests: 15, addresses: 15 }],
    });
    expect(body.samples[0]).toMatchObject({ ip: '192.0.2.15', from: 'allow', to: 'block' });
    expect((await rules('', {})).body.total).toBe(0);
  });

  test('counts addresses beside requests, and a frequent change does not hide the samples of a rare one', async () => {
    const { rules, jwt, id } = await newInstance();
    const timestamp = testNow() - 60_000;
    const frequent = Array.from({ length: 40 }, (_, i) =>
      verdictRecordOf(id, { timestamp: timestamp + 10 + i, ip: `192.0.2.${i % 2}`, user_agent: 'frequent' }),
    );
    const rare = verdictRecordOf(id, { timestamp, ip: '192.0.2.1', user_agent: 'rare' });
    const sent = await sendVerdicts(jwt, 'batch-of-this-test', [rare, ...frequent]);
    expect(await sent.json()).toMatchObject({ accepted: 41 });
    const { body } = await rules('/preview', {
      rules: [
        { type: 'userAgent', value: 'frequent', verdict: 'block' },
        { type: 'userAgent', value: 'rare', verdict: 'challenge' },
      ],
    });
    expect(body).toMatchObject({ changed: 41, changedAddresses: 2 });
    expect(body.changes).toEqual([
      { from: 'allow', to: 'block', requests: 40, addresses: 2 },
      { from: 'allow', to: 'challenge', requests: 1, addresses: 1 },
    ]);
    expect(body.samples.map(({ userAgent }: any) => userAgent).at(-1)).toBe('rare');
    expect(body.samples).toHaveLength(11);
  });
});
