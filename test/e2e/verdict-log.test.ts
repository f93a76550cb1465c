/**
 * The verdict log over HTTP through both Workers: every request leaves one verdict, and every read endpoint returns it
 * in the documented form.
 */
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod/mini';
import {
  distinctFiredRulesResponse,
  distinctSourcesResponse,
  riskHistoryResponse,
  sessionTelemetryResponse,
  trafficByDimensionResponse,
  trafficSummaryResponse,
  verdictDimensions,
  verdictPageResponse,
} from '../../src/contract/management/verdict-query.ts';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { metrics } from '../../src/service/operations/protect/verdicts/metrics-table.ts';
import { browse } from '../support/browse.ts';
import { sessionCookieAt } from '../support/edge-session.ts';
import { expectRows } from '../support/rows.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { seededRandom, variedRecord, verdictRecordOf } from '../support/verdict-record.ts';
import { stackNow } from '../support/clock.ts';

const stack = useStack();
type Page = z.infer<typeof verdictPageResponse>;
function read<Schema extends z.ZodMiniType>(schema: Schema, path: string, body: object = {}): Promise<z.infer<Schema>> {
  return manage<unknown>(stack(), path, body).then((answer) => schema.parse(answer));
}

const search = (body: object): Promise<Page> => read(verdictPageResponse, '/protect/verdicts/search', body);
const page = (body: object = {}): Promise<Page> => read(verdictPageResponse, '/protect/verdicts', body);

async function append(body: unknown, jwt = stack().clientJwt): Promise<Response> {
  return fetch(`${stack().serviceUrl}/edge/v1/verdicts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${jwt}` },
    body: JSON.stringify(body),
  });
}

const scrape = (token: string): Promise<Response> =>
  fetch(`${stack().serviceUrl}/protect/metrics`, { headers: { authorization: `Bearer ${token}` } });

describe('a request through the edge', () => {
  test('leaves exactly one verdict, under the request id of its response', async () => {
    const response = await browse(`${stack().edgeUrl}/api/one?secret=1`);
    await response.text();
    const requestId = response.headers.get('x-protect-request-id');
    const found = await eventually(
      async () => (await page({ requestPath: '/api/one' })).verdicts,
      (verdicts) => verdicts.length > 0,
    );
    expect(found.map(({ request_id }) => request_id)).toEqual([requestId]);
    expect(found[0]).toMatchObject({ request_path: '/api/one', instance_id: stack().instanceId, method: 'GET' });
  });

  test('leaves one verdict each when there are many, numbered without a gap', async () => {
    await Promise.all(
      Array.from({ length: 150 }, async (_, index) => {
        await (await browse(`${stack().edgeUrl}/api/many/${index}`)).text();
      }),
    );
    const { verdicts, total, totalIsExact } = await eventually(
      () => page({ requestPath: '/api/many/*', limit: 1000 }),
      (answer) => answer.total >= 150,
    );
    expect([verdicts.length, total, totalIsExact]).toEqual([150, 150, true]);
    expect(new Set(verdicts.map(({ request_path }) => request_path)).size).toBe(150);
    const seqs = verdicts.map(({ edge }) => edge.seq).sort((a, b) => a - b);
    expect((seqs.at(-1) ?? 0) - (seqs[0] ?? 0)).toBe(149);
  });
});

test('the counters of the edges are served as Prometheus text, lost verdicts included', async () => {
  const timestamp = stackNow();
  const edge = { colo: 'FRA', version: '0.1.0', isolate: 'isolate-metrics', seq: 4 };
  const records = [verdictRecordOf(stack().instanceId, { timestamp, edge }), { v: 9 }];
  // The stack's own edge has no such sinks, so it does not add to these counters.
  const counters = { 'log_sink_failures{sink="http"}': 3, 'verdicts_dropped{reason="http-failed"}': 2 };
  expect((await append({ batchId: 'metrics-1', records, counters })).status).toBe(200);
  expect((await append({ batchId: 'metrics-1', records, counters })).status).toBe(200);
  const instance = `instance="${stack().instanceId}"`;
  const key = await manage<{ token: string }>(stack(), '/api-keys/create', {
    name: 'prometheus',
    permissions: { Protect: ['readProtect'] },
  });
  const response = await scrape(key.token);
  const text = await response.text();
  expect(response.headers.get('content-type')).toContain('text/plain');
  expect(text).toContain('# TYPE gatehouse_verdicts_dropped counter\n');
  for (const { name, type, help, label } of metrics) {
    expect(text).toContain(`# HELP gatehouse_${name} ${help}.\n# TYPE gatehouse_${name} ${type}\n`);
    const labels = label ? label.values.map((value) => `,${label.name}="${value}"`) : [''];
    for (const given of labels) expect(text).toContain(`\ngatehouse_${name}{${instance}${given}} `);
  }
  expect(text).toContain(`gatehouse_verifications{${instance},verified="false"} 0\n`);
  expect(text).toMatch(/^gatehouse_requests\{[^}]*decision="allow"\} [1-9]/m);
  expect(text).toMatch(/^gatehouse_origin_responses\{[^}]*class="2xx"\} [1-9]/m);
  expect(text).toMatch(/^gatehouse_ruleset_age_seconds\{[^}]*\} \d+$/m);
  expect(text).toContain(`gatehouse_verdicts_dropped{${instance},reason="http-failed"} 2\n`);
  expect(text).toContain(`gatehouse_log_sink_failures{${instance},sink="http"} 3\n`);
  expect(text).toContain(`gatehouse_verdicts_rejected{${instance},reason="unknown-version"} 1\n`);
  expect(text).toContain(`gatehouse_verdicts_missing{${instance}} 4\n`);
});

test('a record that arrives again in another batch is counted once in the metrics', async () => {
  // Nothing but this test sends these values.
  const series = ['requests{*,decision="block"}', 'request_sources{*,source="ip-category"}', '{*,class="1xx"}'];
  const counted = async (): Promise<number[]> => {
    const text = await scrape(stack().apiKey).then((response) => response.text());
    return series.map((name) => {
      const line = `${name.replace('*', `instance="${stack().instanceId}"`)} `;
      return Number(text.slice(text.indexOf(line) + line.length).split('\n', 1)[0]);
    });
  };
  const before = await counted();
  const given = { timestamp: stackNow(), decision: 'block', source: 'ip-category', status: 103 } as const;
  const records = Array.from({ length: 3 }, () => verdictRecordOf(stack().instanceId, given));
  for (const [batchId, sent] of Object.entries({
    one: records.slice(1),
    two: records,
    three: [...records, ...records],
  })) {
    expect((await append({ batchId, records: sent, counters: {} })).status).toBe(200);
  }
  expect((await counted()).map((value, at) => value - (before[at] ?? 0))).toEqual([3, 3, 3]);
});

test('a page’s report is found under its session and no other', async () => {
  const agent = { 'user-agent': 'Mozilla/5.0 (telemetry)' };
  const ours = {
    ...agent,
    origin: stack().edgeUrl,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
  };
  const value = await sessionCookieAt(stack().edgeUrl, ours);
  const jti = decodeURIComponent(value.slice('protect_session='.length)).split('|')[0] ?? '';
  const counts = { pointerMoves: 4, presses: 1, touches: 0, leaps: 0, keys: 2, wheels: 0, scrolls: 0, untrusted: 0 };
  const typing = { keyGaps: 1, keyGapMeanMs: 180, keyGapDeviationMs: 0 };
  const report = {
    v: 1,
    elapsedMs: 900,
    visibleMs: 900,
    firstInteractionMs: 300,
    ...counts,
    ...typing,
    traits: ['webdriver'],
  };
  const headers = { ...ours, cookie: value };
  const sent = await browse(`${stack().edgeUrl}/__protect/telemetry`, {
    method: 'POST',
    headers,
    body: JSON.stringify(report),
  });
  expect(sent.status).toBe(202);
  const found = await eventually(
    () => read(sessionTelemetryResponse, '/protect/session-telemetry', { jti }),
    ({ telemetry }) => telemetry.length > 0,
  );
  expect(found.telemetry.map((entry) => entry.report)).toEqual([report]);
  const other = await read(sessionTelemetryResponse, '/protect/session-telemetry', { jti: 'another' });
  expect(other.telemetry).toEqual([]);
});

describe('a batch sent to the log', () => {
  test('twice is stored once', async () => {
    const timestamp = stackNow();
    const records = Array.from({ length: 20 }, () =>
      verdictRecordOf(stack().instanceId, { timestamp, request_path: '/twice', site_key: stack().siteKey }),
    );
    expect(await (await append({ records })).json()).toEqual({ accepted: 20, duplicates: 0, rejected: [] });
    expect(await (await append({ records })).json()).toEqual({ accepted: 0, duplicates: 20, rejected: [] });
    expect((await page({ requestPath: '/twice' })).total).toBe(20);
  });

  test.each([
    ['without a bearer', () => ''],
    ['with another bearer', () => 'nonsense'],
    ['with an API key', () => stack().apiKey],
  ])('%s is refused with the envelope', async (_, bearer) => {
    const response = await append({ records: [] }, bearer());
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 401 } });
  });

  test('of another shape is a 400', () =>
    expectRows(
      [
        ['that is too long', { records: Array.from({ length: 501 }, () => null) }],
        ['of the wrong shape', { records: 'none' }],
        ['with a member nobody knows', { records: [], surprise: 1 }],
        ['with a counter that has no name', { records: [], counters: { 'Bad Name': 1 } }],
      ],
      async ([, body]) => {
        const response = await append(body);
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ error: { key: 'API.INVALID_BODY' } });
      },
    ));
});

describe('the read endpoints', () => {
  const since = stackNow() - 3 * 3_600_000;
  const until = since + 3_600_000;
  const window = { since, until };
  let records: VerdictRecord[] = [];

  test('find what was appended, by every parameter, from JSON and from a form', async () => {
    const random = seededRandom(11);
    records = Array.from({ length: 400 }, (_, seq) =>
      variedRecord(stack().instanceId, since + seq * 5000, random, seq),
    );
    expect((await append({ records })).status).toBe(200);
    const count = (holds: (record: VerdictRecord) => boolean): number => records.filter(holds).length;
    const totals = async (body: object): Promise<number> => (await page({ ...window, ...body })).total;
    expect(await totals({})).toBe(400);
    expect(await totals({ decision: 'block' })).toBe(count(({ decision }) => decision === 'block'));
    expect(await totals({ decision: ['block', 'allow'] })).toBe(count(({ decision }) => decision !== 'challenge'));
    expect(await totals({ sources: ['risk'] })).toBe(count(({ source }) => source === 'risk'));
    expect(await totals({ asn: 64_500 })).toBe(count(({ asn }) => asn === 64_500));
    expect(await totals({ asn: ['AS64500', '64501'] })).toBe(count(({ asn }) => asn === 64_500 || asn === 64_501));
    expect(await totals({ deviceType: 'tablet' })).toBe(count(({ device_type }) => device_type === 'tablet'));
    expect(await totals({ requestPath: '/shop/1*' })).toBe(
      count((record) => record.request_path.startsWith('/shop/1')),
    );
    expect(await totals({ minRulesFired: 1 })).toBe(count(({ fired_rules }) => fired_rules.length > 0));
    const rule = 'ip:192.0.2.3';
    expect(await totals({ firedRules: [rule] })).toBe(
      count(({ fired_rules }) => fired_rules.some(({ id }) => id === rule)),
    );
    const iso = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
    expect((await page(iso)).total).toBe(400);
    const form = await fetch(`${stack().serviceUrl}/protect/verdicts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack().apiKey}` },
      body: new URLSearchParams({ since: String(since), until: String(until), limit: '7', decision: 'block' }),
    });
    const answer = verdictPageResponse.parse(await form.json());
    expect([answer.verdicts.length, answer.limit]).toEqual([7, 7]);
  });

  test('page by offset and by cursor to the same rows', async () => {
    const all = (await page({ ...window, limit: 1000 })).verdicts.map(({ id }) => id);
    expect(all).toEqual(records.map(({ id }) => id).toReversed());
    const byOffset = await page({ ...window, limit: 30, offset: 90 });
    expect(byOffset.verdicts.map(({ id }) => id)).toEqual(all.slice(90, 120));
    const first = await page({ ...window, limit: 90 });
    const byCursor = await page({ ...window, limit: 30, cursor: first.nextCursor });
    expect(byCursor.verdicts).toEqual(byOffset.verdicts);
    expect((await page({ ...window, limit: 10, offset: 390 })).nextCursor).toBeNull();
  });

  test('search one client by address, session and network together', async () => {
    const wanted = records.find(({ jti, ip, asn }) => jti !== null && ip !== null && asn !== null) as VerdictRecord;
    const { jti, ip, asn } = wanted;
    expect((await search({ jti })).total).toBe(records.filter((record) => record.jti === jti).length);
    expect((await search({ ip })).total).toBe(records.filter((record) => record.ip === ip).length);
    const both = await search({ jti, ip, asn });
    expect(both.verdicts.map(({ id }) => id)).toContain(wanted.id);
  });

  test('count distinct sources and fired rules', async () => {
    const { sources } = await read(distinctSourcesResponse, '/protect/verdicts/distinct-sources', window);
    expect(new Set(sources.map(({ source }) => source))).toEqual(new Set(records.map(({ source }) => source)));
    expect(sources.reduce((sum, { total }) => sum + total, 0)).toBe(400);
    const rules = await read(distinctFiredRulesResponse, '/protect/verdicts/distinct-fired-rules', window);
    const ids = records.flatMap(({ fired_rules }) => fired_rules.map(({ id }) => id));
    expect(new Set(rules.firedRules.map(({ id }) => id))).toEqual(new Set(ids));
    expect(rules.isComplete).toBe(true);
  });

  test('sum traffic by bucket, and by source', async () => {
    const summary = await read(trafficSummaryResponse, '/protect/traffic-summary', { ...window, bucket: 'minute' });
    expect(summary.total).toBe(400);
    expect(summary.buckets.reduce((sum, { total }) => sum + total, 0)).toBe(400);
    expect(summary.block).toBe(records.filter(({ decision }) => decision === 'block').length);
    const query = { ...window, bucket: 300, source: 'risk' };
    const risk = await read(trafficSummaryResponse, '/protect/traffic-summary', query);
    expect(risk.total).toBe(records.filter(({ source }) => source === 'risk').length);
  });

  test('split traffic by every dimension with an exact remainder', () =>
    expectRows(verdictDimensions, async (groupBy) => {
      const query = { ...window, groupBy, bucket: 'minute', topN: 2 };
      const split = await read(trafficByDimensionResponse, '/protect/traffic-by-dimension', query);
      expect([split.total, split.isExact]).toEqual([400, true]);
      expect(split.series.length).toBeLessThanOrEqual(2);
      const shown = split.series.reduce((sum, { total }) => sum + total, 0) + split.other.total;
      if (groupBy === 'fired_rule' || groupBy === 'ip_category') expect(shown).toBeGreaterThanOrEqual(400);
      else expect(shown).toBe(400);
      for (const { total, points } of [...split.series, split.other]) {
        expect(points.reduce((sum, point) => sum + point.total, 0)).toBe(total);
      }
    }));

  test('return the risk history and the telemetry of one session', async () => {
    const jti = records.find((record) => record.jti !== null)?.jti;
    const own = records.filter((record) => record.jti === jti);
    const history = await read(riskHistoryResponse, '/protect/risk-history', { jti });
    expect(history.history.map(({ id, risk_score }) => [id, risk_score])).toEqual(
      own.map(({ id, risk_score }) => [id, risk_score]),
    );
    const session = await read(sessionTelemetryResponse, '/protect/session-telemetry', { jti });
    expect([session.requests.total, session.first_seen, session.last_seen]).toEqual([
      own.length,
      own[0]?.timestamp,
      own.at(-1)?.timestamp,
    ]);
  });

  test('export every match as NDJSON', async () => {
    const response = await fetch(`${stack().serviceUrl}/protect/verdicts/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack().apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...window, decision: 'block' }),
    });
    expect(response.headers.get('content-type')).toContain('application/x-ndjson');
    const ids = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as VerdictRecord).id);
    const blocked = records.filter(({ decision }) => decision === 'block').map(({ id }) => id);
    expect(ids).toEqual(blocked.toReversed());
  });

  test('export every match as Parquet', async () => {
    const response = await fetch(`${stack().serviceUrl}/protect/verdicts/export`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack().apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...window, format: 'parquet' }),
    });
    expect(response.headers.get('content-disposition')).toContain('verdicts.parquet');
    const rows = await parquetReadObjects({ file: await response.arrayBuffer() });
    expect(rows.map(({ id }) => id as string)).toEqual(records.toReversed().map(({ id }) => id));
    const named = ['jti', 'ip', 'ip_category', 'user_agent', 'request_path', 'decision', 'risk_score'] as const;
    for (const [at, row] of rows.entries()) {
      const record = records.at(-1 - at) as VerdictRecord;
      expect(row).toMatchObject({
        ...Object.fromEntries(named.map((name) => [name, record[name]])),
        timestamp: new Date(record.timestamp),
        asn: record.asn === null ? null : BigInt(record.asn),
        bot_id: record.bot?.id ?? null,
        fired_rule_ids: record.fired_rules.map(({ id }) => id),
        edge_isolate: record.edge.isolate,
        record: null,
      });
    }
  });

  test('return nothing of an erased session', async () => {
    const jti = 'session-7';
    const erased = await manage<{ erased: number }>(stack(), '/protect/sessions/erase', { jti });
    expect(erased.erased).toBe(records.filter((record) => record.jti === jti).length);
    expect((await read(verdictPageResponse, '/protect/verdicts/search', { jti })).total).toBe(0);
  });
});

const ask = async (path: string, body: object): Promise<[number, unknown]> => {
  const response = await fetch(`${stack().serviceUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack().apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return [response.status, await response.json()];
};

describe('a wrong query', () => {
  test('of any kind is a 400', () =>
    expectRows(
      [
        ['/protect/verdicts', { since: 'yesterday' }],
        ['/protect/verdicts', { limit: 1001 }],
        ['/protect/verdicts', { limit: 0 }],
        ['/protect/verdicts', { decision: 'maybe' }],
        ['/protect/verdicts', { cursor: 'zzz' }],
        ['/protect/verdicts', { surprise: true }],
        ['/protect/verdicts/search', { ip: '1.2.3' }],
        ['/protect/verdicts/distinct-sources', {}],
        ['/protect/risk-history', {}],
        ['/protect/traffic-summary', { bucket: 'fortnight' }],
        ['/protect/traffic-summary', { bucket: 61 }],
        ['/protect/traffic-summary', { since: 0, bucket: 'minute' }],
        ['/protect/traffic-by-dimension', { groupBy: 'shoe_size' }],
        ['/protect/traffic-by-dimension', {}],
        // 8,333 minutes of 101 series would be 80 MB.
        ['/protect/traffic-by-dimension', { groupBy: 'country', bucket: 'minute', topN: 100, since: stackNow() - 5e8 }],
      ],
      async ([path, body]) =>
        expect(await ask(path, body)).toMatchObject([400, { error: { code: 400, key: 'API.INVALID_BODY' } }]),
    ));

  test('for a site key without an instance is a 404 with a string as error', () =>
    expectRows(['/protect/verdicts', '/protect/verdicts/search', '/protect/traffic-summary'], async (path) => {
      expect(await ask(path, { siteKey: 'nobody' })).toEqual([404, { error: expect.any(String) as string }]);
    }));
});
