/**
 * Edge access rules over the management API and the edge's API (interface document 4.8, design 4), through
 * the whole service app.
 */
import { describe, expect, test } from 'vitest';
import { edgeVersion, RULESET_MEDIA_TYPE } from '../../src/contract/edge-api.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { call, newAccount, send } from './service/service-under-test.ts';

let instances = 0;

/** An account with an active instance; `rules` calls an access rule endpoint of it. */
async function newInstance() {
  instances += 1;
  const { token, site } = await newAccount();
  const made = await call(token, '/protect/instances/create', {
    name: 'Shop',
    cname: `rules${instances}.example.com`,
    globalSiteKey: site.siteKey,
  });
  const jwt = await call(token, '/protect/client-jwt/generate', { protectInstanceId: made.body.id, expiresInWeeks: 1 });
  return {
    token,
    id: made.body.id as string,
    siteKey: site.siteKey,
    jwt: jwt.body.clientJwt as string,
    rules: (operation: string, body: unknown) => call(token, `/protect/access-rules${operation}`, body),
  };
}

function asEdge(jwt: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return send(path, { headers: { authorization: `Bearer ${jwt}`, ...headers } });
}

/** Who and when is not part of a file. */
function withoutAuthors(body: any): unknown[] {
  return body.rules.map((rule: object) => ({
    ...rule,
    createdAt: null,
    createdBy: null,
    updatedAt: null,
    updatedBy: null,
  }));
}

const values = (body: any): string[] => body.rules.map((rule: { value: string }) => rule.value);

describe('create', () => {
  test('takes all six types and every verdict, and echoes canonical values', async () => {
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

  test('creating a rule again in another spelling replaces its verdict', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: [{ type: 'ipMask', value: '2001:db8::1/32', verdict: 'block' }] });
    const again = await rules('/create', { rules: [{ type: 'ipMask', value: '2001:DB8:0::/32', verdict: 'allow' }] });
    expect(again.body).toMatchObject({ created: 0, updated: 1, version: 2 });
    const { body } = await rules('', {});
    expect(body.rules).toMatchObject([{ value: '2001:db8::/32', verdict: 'allow' }]);
  });

  test('one bad rule refuses the batch, names index, field and reason, and changes nothing', async () => {
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

  test('at most 100 errors are listed', async () => {
    const { rules } = await newInstance();
    const bad = Array.from({ length: 300 }, () => ({ type: 'ip', value: 'x', verdict: 'block' }));
    expect((await rules('/create', { rules: bad })).body.error.details).toHaveLength(100);
  });

  test('10,000 rules are one call, 10,001 are 413 with the limit', async () => {
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

  test('what was listed can be passed back unchanged', async () => {
    const { rules } = await newInstance();
    await rules('/create', {
      rules: [
        {
          type: 'ip',
          value: '192.0.2.1',
          verdict: 'block',
          expiry: '2027-01-01T01:00:00+01:00',
          rollout: 12.5,
          note: 'x',
        },
        { type: 'asn', value: 64496, verdict: 'block', mode: 'monitor' },
      ],
    });
    const listed = (await rules('', {})).body;
    expect(listed.rules[0]).toMatchObject({
      expiry: '2027-01-01T00:00:00.000Z',
      expired: false,
      rollout: 12.5,
      note: 'x',
    });
    const again = await rules('/create', { rules: listed.rules });
    expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: 2, version: 1 });
  });

  test('an account without an instance gets the document’s 404', async () => {
    const { token } = await newAccount();
    const { status, body } = await call(token, '/protect/access-rules', {});
    expect(status).toBe(404);
    expect(body).toEqual({ error: expect.stringContaining('active protect instance') });
  });
});

describe('list', () => {
  test('pages by cursor, and the pages together are everything', async () => {
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

  test('a cursor that is none of ours is 400', async () => {
    const { rules } = await newInstance();
    for (const cursor of ['x', 'ip:', 'nothing:1', '%zz']) {
      expect((await rules('', { limit: 1, cursor })).status).toBe(400);
    }
  });

  test('finds the rules that match an address, most specific first', async () => {
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

describe('a rule whose signal the edge has never brought', () => {
  const rulesOfTheTest = [
    { type: 'ja4Hash', value: 't13d1516h2_8daaf6152771_02713d6af862', verdict: 'block' },
    { type: 'asn', value: 64496, verdict: 'block' },
    { type: 'ip', value: '192.0.2.1', verdict: 'block' },
  ];

  test('is pointed out once requests were logged without it', async () => {
    const { rules, jwt, id } = await newInstance();
    const records = [verdictRecordOf(id, { timestamp: Date.now() - 1000, ja4: null, asn: 64497 })];
    await send('/edge/v1/verdicts', {
      method: 'POST',
      headers: { authorization: `Bearer ${jwt}`, 'content-type': 'application/json' },
      body: JSON.stringify({ batchId: 'one', records }),
    });
    await rules('/create', { rules: rulesOfTheTest });
    for (const query of [{}, { limit: 10 }]) {
      const { body } = await rules('', query);
      expect(body.unseenSignals).toEqual(['ja4Hash']);
      expect(body.rules.filter((rule: any) => rule.signalUnseen).map((rule: any) => rule.type)).toEqual(['ja4Hash']);
    }
    const again = await rules('/create', { rules: (await rules('', {})).body.rules });
    expect(again.body).toMatchObject({ unchanged: 3 });
  });

  test('is not pointed out while nothing is logged', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: rulesOfTheTest });
    expect((await rules('', {})).body.unseenSignals).toEqual([]);
  });
});

describe('siteKey', () => {
  test('names the instance; another account’s is as good as none', async () => {
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

test('rules can come as a form', async () => {
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
  test('takes any spelling, is idempotent, and counts what was missing', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: [{ type: 'asn', value: 64496, verdict: 'block' }] });
    const conditions = [
      { type: 'asn', value: 'as64496' },
      { type: 'ip', value: '192.0.2.1' },
    ];
    expect((await rules('/delete', { conditions })).body).toEqual({ deleted: 1, missing: 1, version: 2 });
    expect((await rules('/delete', { conditions })).body).toEqual({ deleted: 0, missing: 2, version: 2 });
  });

  test('a bad condition deletes nothing', async () => {
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

describe('explain', () => {
  const rulesOfTheTest = [
    { type: 'ip', value: '192.0.2.1', verdict: 'allow' },
    { type: 'ipMask', value: '192.0.2.0/24', verdict: 'block' },
    { type: 'ipMask', value: '192.0.0.0/16', verdict: 'allow', mode: 'monitor' },
    { type: 'asn', value: 64496, verdict: 'challenge' },
    { type: 'userAgent', value: 'Ünüsual', verdict: 'block' },
    { type: 'countryCode', value: 'NL', verdict: 'block', expiry: '2020-01-01T00:00:00Z' },
  ];

  test.each([
    [{ ip: '192.0.2.1' }, 'allow', 'ip:192.0.2.1'],
    [{ ip: '192.0.2.9' }, 'block', 'ipMask:192.0.2.0/24'],
    [{ ip: '::ffff:192.0.2.9' }, 'block', 'ipMask:192.0.2.0/24'],
    [{ ip: '192.0.9.9' }, 'allow', 'default'],
    [{ ip: '192.0.9.9', asn: 64496 }, 'challenge', 'asn:64496'],
    [{ userAgent: 'A vERY ÜNÜSUAL one', asn: 'AS64496' }, 'block', 'userAgent:ünüsual'],
    [{ countryCode: 'nl' }, 'allow', 'default'],
    [{}, 'allow', 'default'],
  ])('%j is %s by %s', async (signals, decision, decidedBy) => {
    const { rules } = await newInstance();
    await rules('/create', { rules: rulesOfTheTest });
    const { status, body } = await rules('/explain', signals);
    expect(status).toBe(200);
    expect(body).toMatchObject({ decision, decidedBy, version: 1, enforcementPolicy: 'enforce' });
    expect(body.explain).toContain('ruleset version 1');
  });

  test('shows every rule that fires, monitored ones as such', async () => {
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

  test('says what is not a signal', async () => {
    const { rules } = await newInstance();
    const { status, body } = await rules('/explain', { ip: '1.2.3', ja4: 'x' });
    expect(status).toBe(400);
    expect(body.error.details.map((detail: any) => detail.path)).toEqual(['ip', 'ja4']);
  });
});

describe('preview', () => {
  test('counts logged requests that would have been decided otherwise, and stores nothing', async () => {
    const { rules, jwt, id } = await newInstance();
    const timestamp = Date.now() - 60_000;
    const records = Array.from({ length: 30 }, (_, i) =>
      verdictRecordOf(id, { timestamp: timestamp + i, ip: `192.0.2.${i}`, request_path: `/page/${i}` }),
    );
    const sent = await send('/edge/v1/verdicts', {
      method: 'POST',
      headers: { authorization: `Bearer ${jwt}`, 'content-type': 'application/json' },
      body: JSON.stringify({ batchId: 'batch-of-this-test', records }),
    });
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
      changes: [{ from: 'allow', to: 'block', requests: 15 }],
    });
    expect(body.samples[0]).toMatchObject({ ip: '192.0.2.15', from: 'allow', to: 'block' });
    expect((await rules('', {})).body.total).toBe(0);
  });
});

describe('import and export', () => {
  test('a list with mistakes imports the rest and reports each line', async () => {
    const { rules } = await newInstance();
    const content = '# drop list\n192.0.2.0/24\n1.2.3\nAS64496\n198.51.100.7 # seen\n';
    const { status, body } = await rules('/import', { content, verdict: 'block' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ format: 'list', created: 3, skipped: 1, skippedLines: [{ line: 3 }], version: 1 });
    const again = await rules('/import', { content, verdict: 'block' });
    expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: 3, version: 1 });
  });

  test('a line without a verdict is skipped when the call names none', async () => {
    const { rules } = await newInstance();
    const { body } = await rules('/import', { content: '192.0.2.1' });
    expect(body).toMatchObject({ created: 0, skipped: 1, version: 0 });
    expect(body.skippedLines[0].reason).toContain('verdict');
  });

  test.each(['csv', 'ndjson'])('%s goes out and comes back the same', async (format) => {
    const from = await newInstance();
    await from.rules('/create', {
      rules: [
        {
          type: 'ip',
          value: '192.0.2.1',
          verdict: 'block',
          note: 'a "quote", a\nline',
          expiry: '2027-01-01T00:00:00Z',
        },
        { type: 'userAgent', value: 'bad, bot', verdict: 'challenge', mode: 'monitor', rollout: 2.5 },
        { type: 'countryCode', value: 'T1', verdict: 'allow' },
      ],
    });
    const response = await send('/protect/access-rules/export', {
      method: 'POST',
      headers: { authorization: `Bearer ${from.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ format }),
    });
    const content = new TextDecoder().decode(await response.arrayBuffer());
    const to = await newInstance();
    expect((await to.rules('/import', { content })).body).toMatchObject({ format, created: 3, skipped: 0 });
    expect(withoutAuthors((await to.rules('', {})).body)).toEqual(withoutAuthors((await from.rules('', {})).body));
  });
});

describe('history', () => {
  test('names the key behind each version, and a rollback undoes an import', async () => {
    const { rules } = await newInstance();
    await rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] });
    await rules('/import', { content: '10.0.0.0/8\n192.0.2.1', verdict: 'allow' });
    const { body } = await rules('/history', {});
    expect(body).toMatchObject({ version: 2, oldest: 0, versions: [{ version: 2, kind: 'import' }, { version: 1 }] });
    expect((await rules('/rollback', { version: 1 })).body).toEqual({
      version: 3,
      restores: 1,
      created: 0,
      updated: 1,
      deleted: 1,
    });
    expect((await rules('', {})).body.rules).toMatchObject([{ value: '192.0.2.1', verdict: 'block' }]);
    expect((await rules('/rollback', { version: 99 })).status).toBe(404);
  });
});

describe('the edge', () => {
  test('sees a new rule in the version at once and can load base and delta', async () => {
    const { rules, jwt } = await newInstance();
    const first = await asEdge(jwt, '/edge/v1/version');
    expect(first.status).toBe(200);
    const before = edgeVersion.parse(await first.json());
    expect(before.delta.version).toBe(before.base.version);
    await rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] });
    const after = edgeVersion.parse(await (await asEdge(jwt, '/edge/v1/version')).json());
    expect(after).toEqual({ ...before, delta: { version: 1 } });
    for (const path of [after.base.hash, `${after.base.hash}/delta/1`]) {
      const file = await asEdge(jwt, `/edge/v1/rulesets/${path}`);
      expect(file.status).toBe(200);
      expect(file.headers.get('content-type')).toBe(RULESET_MEDIA_TYPE);
      expect(file.headers.get('cache-control')).toContain('immutable');
      expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(64);
    }
  });

  test('gets 304 while nothing changed', async () => {
    const { rules, jwt } = await newInstance();
    const etag = (await asEdge(jwt, '/edge/v1/version')).headers.get('etag') ?? '';
    expect((await asEdge(jwt, '/edge/v1/version', { 'if-none-match': etag })).status).toBe(304);
    await rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] });
    expect((await asEdge(jwt, '/edge/v1/version', { 'if-none-match': etag })).status).toBe(200);
  });

  test('gets nothing of another instance, and nothing without a client JWT', async () => {
    const one = await newInstance();
    const other = await newInstance();
    await other.rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] });
    await one.rules('/create', { rules: [{ type: 'asn', value: 1, verdict: 'block' }] });
    await asEdge(one.jwt, '/edge/v1/version');
    const theirs = edgeVersion.parse(await (await asEdge(other.jwt, '/edge/v1/version')).json());
    expect((await asEdge(one.jwt, `/edge/v1/rulesets/${theirs.base.hash}`)).status).toBe(404);
    expect((await asEdge(one.jwt, `/edge/v1/rulesets/${theirs.base.hash}/delta/1`)).status).toBe(404);
    expect((await asEdge(one.token, '/edge/v1/version')).status).toBe(401);
    expect((await send(`/edge/v1/rulesets/${theirs.base.hash}`)).status).toBe(401);
  });

  test.each(['0'.repeat(64), 'x', '..', '0'.repeat(63)])('an unknown ruleset %j is 404', async (hash) => {
    const { jwt } = await newInstance();
    expect((await asEdge(jwt, `/edge/v1/rulesets/${encodeURIComponent(hash)}`)).status).toBe(404);
    expect((await asEdge(jwt, `/edge/v1/rulesets/${'0'.repeat(64)}/delta/x`)).status).toBe(404);
  });
});
