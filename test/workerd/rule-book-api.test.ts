/** Creating, listing and deleting access rules over the management API. */
import { describe, expect, test } from 'vitest';
import { newInstance, values } from './rule-book-instance.ts';
import { call, newAccount, send } from './service/service-under-test.ts';

describe('create', () => {
  test('accepts all six types and every verdict, and returns canonical values', async () => {
    const { rules } = await newInstance();
    const { status, body } = await rules('/create', {
      rules: [
        { type: 'ip', value: '::ffff:192.0.2.1', verdict: 'allow' },
        { type: 'ipMask', value: '192.0.2.77/24', verdict: 'challenge' },
        { type: 'asn', value: 'AS64496', verdict: 'block' },
        { type: 'asn', value: 64497, verdict: 'block' },
        { type: 'countryCode', value: 'nl', verdict: 'challenge' },
        { type: 'ja4Hash', value: 'T13D1516H2_8DAAF6152771_02713D6AF862', verdict: 'block' },
        { type: 'userAgent', value: 'CURL/', verdict: 'block' },
      ],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ created: 7, updated: 0, unchanged: 0, version: 1 });
    expect(values(body)).toEqual([
      '192.0.2.1',
      '192.0.2.0/24',
      '64496',
      '64497',
      'NL',
      't13d1516h2_8daaf6152771_02713d6af862',
      'curl/',
    ]);
  });

  test('replaces the verdict of a rule that is created again in another spelling', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: [{ type: 'ipMask', value: '2001:db8::1/32', verdict: 'block' }] });
    const again = await rules('/create', { rules: [{ type: 'ipMask', value: '2001:DB8:0::/32', verdict: 'allow' }] });
    expect(again.body).toMatchObject({ created: 0, updated: 1, version: 2 });
    const { body } = await rules('', {});
    expect(body.rules).toMatchObject([{ value: '2001:db8::/32', verdict: 'allow' }]);
  });

  test('refuses a batch with an invalid rule, returns its index, field and reason, and changes nothing', async () => {
    const { rules } = await newInstance();
    const { status, body } = await rules('/create', {
      rules: [
        { type: 'ip', value: '192.0.2.1', verdict: 'block' },
        { type: 'ip', value: '1.2.3', verdict: 'block' },
        { type: 'ip', value: '192.0.2.2', verdict: 'captcha' },
        { type: 'ip', value: '192.0.2.3', verdict: 'block', colour: 'red' },
        'nonsense',
      ],
    });
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: 400, key: 'API.INVALID_RULES' });
    expect(body.error.details.map((detail: any) => [detail.index, detail.path])).toEqual([
      [1, 'rules[1].value'],
      [2, 'rules[2].verdict'],
      [3, 'rules[3].colour'],
      [4, 'rules[4]'],
    ]);
    expect((await rules('', {})).body).toMatchObject({ rules: [], total: 0, version: 0 });
  });

  test('lists at most 100 errors', async () => {
    const { rules } = await newInstance();
    const bad = Array.from({ length: 300 }, () => ({ type: 'ip', value: 'x', verdict: 'block' }));
    expect((await rules('/create', { rules: bad })).body.error.details).toHaveLength(100);
  });

  test('refuses a batch with two different rules for one value, names both, and changes nothing', async () => {
    const { rules } = await newInstance();
    const rule = { type: 'ipMask', value: '2001:db8::/32', verdict: 'allow' };
    const again = { ...rule, value: '2001:DB8:0::1/32' };
    for (const path of ['/create', '/preview']) {
      const { status, body } = await rules(path, { rules: [rule, again, { ...again, verdict: 'block' }] });
      expect([path, status, body.error.key]).toEqual([path, 400, 'API.INVALID_RULES']);
      expect(body.error.details).toEqual([
        { index: 2, path: 'rules[2]', message: 'is another rule for the ipMask of rules[0]. Send one of them' },
      ]);
    }
    expect((await rules('', {})).body).toMatchObject({ total: 0, version: 0 });
    expect((await rules('/create', { rules: [rule, again] })).body).toMatchObject({ created: 1, unchanged: 0 });
  });

  test('accepts 10,000 rules in one call, and responds 413 with the limit to 10,001', async () => {
    const { rules } = await newInstance();
    const many = Array.from({ length: 10_001 }, (_, i) => ({
      type: 'ip',
      value: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
      verdict: 'block',
    }));
    const over = await rules('/create', { rules: many });
    expect(over.status).toBe(413);
    expect(over.body.error.message).toContain('10000');
    const within = await rules('/create', { rules: many.slice(1) });
    expect(within.body).toMatchObject({ created: 10_000, version: 1 });
    const listed = await rules('', {});
    expect(listed.body.rules).toHaveLength(10_000);
    expect(listed.body.total).toBe(10_000);
  });

  test('accepts listed rules unchanged', async () => {
    const { rules } = await newInstance();
    await rules('/create', {
      rules: [
        {
          type: 'ip',
          value: '192.0.2.1',
          verdict: 'block',
          expiry: '2045-01-01T01:00:00+01:00',
          rollout: 12.5,
          note: 'x',
        },
        { type: 'asn', value: 64496, verdict: 'block', mode: 'monitor' },
      ],
    });
    const listed = (await rules('', {})).body;
    expect(listed.rules[0]).toMatchObject({
      expiry: '2045-01-01T00:00:00.000Z',
      expired: false,
      rollout: 12.5,
      note: 'x',
    });
    const again = await rules('/create', { rules: listed.rules });
    expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: 2, version: 1 });
  });

  test('refuses a new rule whose expiry is past, and takes a listed one back', async () => {
    const { rules } = await newInstance();
    const over = { type: 'ip', value: '192.0.2.1', verdict: 'block', expiry: '2020-01-01T00:00:00Z' };
    for (const [path, at] of [
      ['/create', 'rules[1].expiry'],
      ['/preview', 'rules[1].expiry'],
    ] as const) {
      const { status, body } = await rules(path, { rules: [{ ...over, expiry: null }, over] });
      expect([status, body.error.details]).toEqual([400, [{ index: 1, path: at, message: 'is in the past' }]]);
    }
    const late = await rules('/import', { content: '192.0.2.1', verdict: 'block', expiry: over.expiry });
    expect([late.status, late.body.error.details]).toEqual([400, [{ path: 'expiry', message: 'is in the past' }]]);

    const file = 'type,value,verdict,expiry\nip,192.0.2.1,block,2020-01-01T00:00:00Z';
    expect((await rules('/import', { content: file })).body).toMatchObject({ created: 1, skipped: 0 });
    const listed = (await rules('', {})).body.rules;
    expect(listed).toMatchObject([{ value: '192.0.2.1', expired: true }]);
    expect((await rules('/create', { rules: listed })).body).toMatchObject({ unchanged: 1, version: 1 });
  });

  test('responds 404 to an account without an instance', async () => {
    const { token } = await newAccount();
    const { status, body } = await call(token, '/protect/access-rules', {});
    expect(status).toBe(404);
    expect(body).toEqual({ error: expect.stringContaining('active protect instance') });
  });
});

describe('list', () => {
  test('pages by cursor through every rule', async () => {
    const { rules } = await newInstance();
    const all = Array.from({ length: 25 }, (_, i) => ({ type: 'userAgent', value: `bot:${i}% é`, verdict: 'block' }));
    await rules('/create', { rules: all });
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await rules('', { limit: 10, cursor });
      seen.push(...values(body));
      cursor = body.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(25);
  });

  test('responds 400 to an invalid cursor', async () => {
    const { rules } = await newInstance();
    for (const cursor of ['x', 'ip:', 'nothing:1', '%zz']) {
      expect((await rules('', { limit: 1, cursor })).status).toBe(400);
    }
  });

  test('finds the rules that match an address, the most specific first', async () => {
    const { rules } = await newInstance();
    await rules('/create', {
      rules: [
        { type: 'ip', value: '192.0.2.1', verdict: 'allow' },
        { type: 'ipMask', value: '192.0.2.0/24', verdict: 'block' },
        { type: 'ipMask', value: '0.0.0.0/0', verdict: 'challenge' },
        { type: 'ipMask', value: '198.51.100.0/24', verdict: 'block' },
        { type: 'userAgent', value: 'curl', verdict: 'block' },
        { type: 'userAgent', value: 'wget', verdict: 'block' },
        { type: 'asn', value: 64496, verdict: 'block' },
      ],
    });
    const found = await rules('', { matches: { ip: '::ffff:192.0.2.1', userAgent: 'CURL/8', asn: 'AS64496' } });
    expect(values(found.body)).toEqual(['192.0.2.1', '192.0.2.0/24', '0.0.0.0/0', '64496', 'curl']);
    const blocks = await rules('', { matches: { ip: '192.0.2.1' }, verdict: 'block' });
    expect(values(blocks.body)).toEqual(['192.0.2.0/24']);
    expect((await rules('', { matches: { ip: '192.0.2' } })).status).toBe(400);
  });
});

describe('siteKey', () => {
  test('selects the instance; a key of another account is unknown', async () => {
    const one = await newInstance();
    const other = await newInstance();
    await one.rules('/create', { siteKey: one.siteKey, rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] });
    expect((await one.rules('', { siteKey: one.siteKey })).body.total).toBe(1);
    for (const operation of ['', '/explain', '/history', '/export']) {
      expect((await other.rules(operation, { siteKey: one.siteKey })).status, operation).toBe(404);
    }
    const rules = [{ type: 'ip', value: '192.0.2.2', verdict: 'allow' }];
    expect((await other.rules('/create', { siteKey: one.siteKey, rules })).status).toBe(404);
    expect((await one.rules('', {})).body.total).toBe(1);
  });
});

test('rules can be sent as a form', async () => {
  const { token, rules } = await newInstance();
  const form = new URLSearchParams([
    ['rules[0][type]', 'asn'],
    ['rules[0][value]', 'AS64496'],
    ['rules[0][verdict]', 'block'],
    ['rules[0][rollout]', '12.5'],
    ['rules[1][type]', 'ip'],
    ['rules[1][value]', '192.0.2.1'],
    ['rules[1][verdict]', 'allow'],
  ]);
  const response = await send('/protect/access-rules/create', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  expect(await response.json()).toMatchObject({ created: 2, rules: [{ value: '64496', rollout: 12.5 }, {}] });
  expect((await rules('', { limit: 10 })).body.total).toBe(2);
});

describe('delete', () => {
  test('accepts any spelling, is idempotent, and counts missing rules', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: [{ type: 'asn', value: 64496, verdict: 'block' }] });
    const conditions = [
      { type: 'asn', value: 'as64496' },
      { type: 'ip', value: '192.0.2.1' },
    ];
    expect((await rules('/delete', { conditions })).body).toEqual({ deleted: 1, missing: 1, version: 2 });
    expect((await rules('/delete', { conditions })).body).toEqual({ deleted: 0, missing: 2, version: 2 });
  });

  test('deletes nothing when a condition is invalid', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: [{ type: 'asn', value: 64496, verdict: 'block' }] });
    const { status, body } = await rules('/delete', {
      conditions: [
        { type: 'asn', value: 64496 },
        { type: 'asn', value: -1 },
      ],
    });
    expect(status).toBe(400);
    expect(body.error.details).toMatchObject([{ index: 1, path: 'conditions[1].value' }]);
    expect((await rules('', {})).body.total).toBe(1);
  });
});
