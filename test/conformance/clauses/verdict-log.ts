/** The verdict log of a Protect instance, as its read endpoints return it. */
import { expect } from 'vitest';
import { verdictDimensions } from '../../../src/contract/management/verdict-query.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';
import { type Clause, once } from '../service.ts';
import { stackNow } from '../../support/clock.ts';

const MINUTE_MS = 60_000;
const since = (Math.floor(stackNow() / MINUTE_MS) - 10) * MINUTE_MS;
const JTI = 'session-1';

/** An account whose edge has sent four verdicts: two of one session, one blocked by a rule. */
const logged = once(async (service) => {
  const account = await service.account();
  const { id, globalSiteKey: siteKey } = await account.addInstance();
  const { clientJwt } = await account.api.post('/protect/client-jwt/generate', {
    protectInstanceId: id,
    expiresInWeeks: 1,
  });
  const record = (minute: number, given: object) =>
    verdictRecordOf(id, { timestamp: since + minute * MINUTE_MS, site_key: siteKey, ...given });
  const records = [
    record(1, { jti: JTI, risk_score: 0.1, request_path: '/a' }),
    record(2, { jti: JTI, risk_score: 0.7, request_path: '/b', decision: 'challenge', source: 'risk' }),
    record(3, {
      decision: 'block',
      source: 'access-rule',
      ip: '198.51.100.7',
      asn: 64_500,
      device_type: 'bot',
      request_path: '/shop/1',
      fired_rules: [{ id: 'ip:198.51.100.7', verdict: 'block', mode: 'enforce' }],
    }),
    record(4, { request_path: '/shop/2' }),
  ];
  const edge = { authorization: `Bearer ${clientJwt}` };
  expect((await service.send('/edge/v1/verdicts', { records }, edge)).body).toMatchObject({ accepted: 4 });
  return { account, siteKey };
});

export const verdictLog: readonly Clause[] = [
  {
    kind: 'endpoint',
    says: 'POST /protect/verdicts pages the log, newest first, by every filter',
    async holds(service) {
      const { account, siteKey } = await logged(service);
      const page = (body: object) => account.api.post('/protect/verdicts', body);
      expect((await page({})).verdicts.map((record) => record.request_path)).toEqual([
        '/shop/2',
        '/shop/1',
        '/b',
        '/a',
      ]);
      const second = await page({ limit: 2, offset: 1 });
      expect(second.verdicts.map((record) => record.request_path)).toEqual(['/shop/1', '/b']);
      for (const [filter, total] of [
        [{ siteKey }, 4],
        [{ since: since + 2 * MINUTE_MS }, 3],
        [{ until: since + 2 * MINUTE_MS }, 1],
        [{ decision: 'block' }, 1],
        [{ sources: ['risk', 'access-rule'] }, 2],
        [{ firedRules: ['ip:198.51.100.7'] }, 1],
        [{ asn: 64_500 }, 1],
        [{ deviceType: 'bot' }, 1],
        [{ requestPath: '/shop/1' }, 1],
        [{ minRulesFired: 1 }, 1],
      ] as const) {
        expect([filter, (await page(filter)).total]).toEqual([filter, total]);
      }
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/verdicts/search finds the verdicts of one client by address, session and network',
    async holds(service) {
      const { account, siteKey } = await logged(service);
      for (const [client, total] of [
        [{ ip: '198.51.100.7' }, 1],
        [{ jti: JTI }, 2],
        [{ asn: 64_496 }, 3],
        [{ jti: JTI, ip: '198.51.100.7' }, 0],
        [{ jti: JTI, siteKey }, 2],
      ] as const) {
        expect([client, (await account.api.post('/protect/verdicts/search', client)).total]).toEqual([client, total]);
      }
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/verdicts/distinct-sources returns the sources of a window, which needs since',
    async holds(service) {
      const { account, siteKey } = await logged(service);
      const path = '/protect/verdicts/distinct-sources';
      const { sources } = await account.api.post(path, { since, siteKey });
      expect(sources.map(({ source }) => source).toSorted()).toEqual(['access-rule', 'default', 'risk']);
      const early = await account.api.post(path, { since, until: since + 2 * MINUTE_MS });
      expect(early.sources.map(({ source }) => source)).toEqual(['default']);
      await account.refused(path, {}, 'since');
    },
  },
  {
    kind: 'field',
    says: 'a time is read in every common form, in JSON and in forms alike',
    async holds(service) {
      const { account } = await logged(service);
      const authorization = `Bearer ${account.key}`;
      const everything = (await account.api.post('/protect/verdicts', { since: 0 })).total;
      expect(everything).toBeGreaterThan(0);
      const times = [
        '0',
        '1970-01-01',
        '19700101',
        '1970-01-01T00:00',
        '19700101T000000Z',
        '1970-01-01T01:00:00+01:00',
      ];
      for (const path of [
        '/protect/verdicts',
        '/protect/verdicts/distinct-sources',
        '/protect/verdicts/distinct-fired-rules',
        '/protect/traffic-by-dimension',
      ]) {
        const more = path.endsWith('dimension') ? { groupBy: 'none', bucket: 'day' } : {};
        const { body: wanted } = await account.call(path, { ...more, since: 0 });
        const { until: _until, ...same } = wanted;
        for (const time of times) {
          const form = Object.entries({ ...more, since: time })
            .map(([name, value]) => `${name}=${value}`)
            .join('&');
          for (const [body, contentType] of [
            [{ ...more, since: time }, 'application/json'],
            // The plus sign of the offset is not escaped, as many clients send it.
            [form, 'application/x-www-form-urlencoded'],
          ] as const) {
            const answer = await service.send(path, body, { authorization, contentType });
            expect([path, contentType, time, answer.status]).toEqual([path, contentType, time, 200]);
            expect(answer.body).toMatchObject(same);
          }
        }
      }
      for (const time of ['2027-02-30', 'yesterday', '2027-01-01T25:00']) {
        await account.refused('/protect/verdicts', { since: time }, 'since');
      }
      const instance = { siteKey: (await account.api.post('/protect/instances'))[0]!.globalSiteKey };
      const rule = { type: 'ip', value: '192.0.2.77', verdict: 'block' };
      for (const expiry of ['2045-01-01', '20450101T000000Z', Date.UTC(2045, 0, 1), String(Date.UTC(2045, 0, 1))]) {
        const { body } = await account.call('/protect/access-rules/create', {
          ...instance,
          rules: [{ ...rule, expiry }],
        });
        expect([expiry, body.rules[0].expiry]).toEqual([expiry, '2045-01-01T00:00:00.000Z']);
      }
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/verdicts/distinct-fired-rules returns the ids of the rules that fired in a window, which needs since',
    async holds(service) {
      const { account } = await logged(service);
      const path = '/protect/verdicts/distinct-fired-rules';
      const { firedRules } = await account.api.post(path, { since });
      expect(firedRules.map(({ id }) => id)).toEqual(['ip:198.51.100.7']);
      expect((await account.api.post(path, { since, until: since + MINUTE_MS })).firedRules).toEqual([]);
      await account.refused(path, {}, 'since');
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/risk-history returns the risk scores of one session, oldest first',
    async holds(service) {
      const { account } = await logged(service);
      const { history } = await account.api.post('/protect/risk-history', { jti: JTI });
      expect(history.map((entry) => [entry.risk_score, entry.decision])).toEqual([
        [0.1, 'allow'],
        [0.7, 'challenge'],
      ]);
      await account.refused('/protect/risk-history', {}, 'jti');
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/session-telemetry describes one session',
    async holds(service) {
      const { account } = await logged(service);
      const seen = await account.api.post('/protect/session-telemetry', { jti: JTI });
      expect(seen).toMatchObject({ jti: JTI, requests: { total: 2 }, ips: ['192.0.2.1'], telemetry: [] });
      await account.refused('/protect/session-telemetry', {}, 'jti');
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/traffic-summary returns totals by decision and by bucket, of one source on request',
    async holds(service) {
      const { account, siteKey } = await logged(service);
      const summary = await account.api.post('/protect/traffic-summary', { since, bucket: 'minute', siteKey });
      expect(summary).toMatchObject({ total: 4, allow: 2, challenge: 1, block: 1, bucketSeconds: 60 });
      expect(summary.buckets.map(({ total }) => total)).toEqual([1, 1, 1, 1]);
      expect((await account.api.post('/protect/traffic-summary', { since, source: 'risk' })).total).toBe(1);
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/traffic-by-dimension splits the traffic by each of the fourteen dimensions, and by no other',
    async holds(service) {
      const { account } = await logged(service);
      const path = '/protect/traffic-by-dimension';
      for (const groupBy of verdictDimensions) {
        const split = await account.api.post(path, { groupBy, since, bucket: 'minute', topN: 1 });
        expect([groupBy, split.groupBy, split.total, split.series.length]).toEqual([groupBy, groupBy, 4, 1]);
      }
      const { series } = await account.api.post(path, { groupBy: 'decision', since });
      expect(series.map(({ value, total }) => [value, total])[0]).toEqual(['allow', 2]);
      expect(verdictDimensions).toHaveLength(14);
      await account.refused(path, { groupBy: 'colour' }, 'groupBy');
      await account.refused(path, {}, 'groupBy');
    },
  },
];
