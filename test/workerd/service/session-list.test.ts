/** The list of an instance's sessions: newest first, by risk and address, page by page. */
import { describe, expect, test } from 'vitest';
import { sessionListResponse } from '../../../src/contract/management/session-query.ts';
import { instanceById, type StoredInstance } from '../../../src/store/d1/instances.ts';
import { listSessions, newJtiFor } from '../../../src/store/risk-book/client/session-books.ts';
import type { SessionPlace } from '../../../src/store/risk-book/rpc.ts';
import { endSession, openRisk, renewRisk } from '../../../src/store/risk-book/client/session-risk.ts';
import { CHROME, environmentOf, headersOf } from '../../unit/risk/session-facts.ts';
import { newInstance } from '../rule-book-instance.ts';
import { call, serviceEnv } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

const MINUTE_MS = 60_000;
/** Sessions begin at a full second. */
const start = Math.floor(testNow() / 1000 - 3 * 3600) * 1000;

async function shop() {
  const made = await newInstance();
  const instance = (await instanceById(serviceEnv, made.id)) as StoredInstance;
  const visitorOf = (ip: string, userAgent: string) => ({
    ip,
    userAgent,
    asn: 64_496,
    country: 'DE',
    ja4: null,
    ipCategories: [],
    requestId: crypto.randomUUID(),
    host: 'example.org',
    headers: headersOf(),
  });
  const timesAt = (minute: number) => {
    const nowMs = start + minute * MINUTE_MS;
    return { nowMs, expiresAt: nowMs + instance.jtiExpirySeconds * 1000 };
  };
  return {
    ...made,
    instance,
    /** Opens a session so many minutes after the start. */
    open: async (minute: number, ip: string, userAgent = CHROME): Promise<string> => {
      const { nowMs } = timesAt(minute);
      const jti = newJtiFor(ip, nowMs);
      const earned = { jti, opening: 'answer', report: environmentOf({ userAgent }) };
      await openRisk(serviceEnv, instance, earned, visitorOf(ip, userAgent), nowMs, null);
      return jti;
    },
    renew: (minute: number, jti: string, ip: string) =>
      renewRisk(serviceEnv, instance, jti, visitorOf(ip, CHROME), timesAt(minute)),
    list: async (body: object = {}) => {
      const answer = await call(made.token, '/protect/sessions', body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return sessionListResponse.parse(answer.body);
    },
  };
}

const jtis = ({ sessions }: { sessions: { jti: string }[] }): string[] => sessions.map(({ jti }) => jti);

test('sessions are listed newest first, each with its risk, its parts and what is known of it', async () => {
  const { open, renew, list } = await shop();
  const person = await open(0, '192.0.2.1');
  const tool = await open(5, '198.51.100.7', 'curl/8.5.0');
  await renew(9, person, '203.0.113.4');
  const listed = await list();
  expect(jtis(listed)).toEqual([tool, person]);
  expect(listed.nextCursor).toBeNull();
  expect(listed.sessions[0]).toMatchObject({ user_agent: 'curl/8.5.0', network: '198.51.100.0/24', renewals: 0 });
  expect(listed.sessions[0]?.risk_score).toBeGreaterThan(0);
  expect(listed.sessions[0]?.parts.map(({ detector }) => detector)).toContain('automation-user-agent');
  expect(listed.sessions[1]).toMatchObject({
    opened_at: start,
    updated_at: start + 9 * MINUTE_MS,
    addresses: ['192.0.2.1', '203.0.113.4'],
    renewals: 1,
    user_agent: CHROME,
  });
});

test('filters choose by risk, by when a session was last seen, and by address', async () => {
  const { open, renew, list } = await shop();
  const person = await open(0, '192.0.2.1');
  const neighbour = await open(1, '192.0.2.99');
  const tool = await open(5, '198.51.100.7', 'curl/8.5.0');
  await renew(20, person, '192.0.2.1');
  expect(jtis(await list({ minRisk: 0.3 }))).toEqual([tool]);
  expect(jtis(await list({ minRisk: '0' }))).toEqual([tool, neighbour, person]);
  expect(jtis(await list({ since: start + 15 * MINUTE_MS }))).toEqual([person]);
  expect(jtis(await list({ ip: '::ffff:192.0.2.1' }))).toEqual([person]);
  expect(jtis(await list({ ip: '192.0.2.99', minRisk: 0.3 }))).toEqual([]);
  expect(jtis(await list({ ip: '203.0.113.1' }))).toEqual([]);
});

test('a session that was erased is not listed', async () => {
  const { open, list, instance } = await shop();
  const gone = await open(0, '192.0.2.1');
  const left = await open(1, '192.0.2.1');
  await endSession(serviceEnv, instance, gone, testNow());
  expect(jtis(await list())).toEqual([left]);
});

describe('pages', () => {
  test('have every session once, over all books and at the same moment', async () => {
    const { open, list } = await shop();
    const opened: string[] = [];
    // Twelve networks, hence several books; each minute has three sessions.
    for (let n = 0; n < 24; n++) opened.push(await open(Math.floor(n / 3), `10.${n % 12}.0.${n}`));
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await list({ limit: 5, ...(cursor ? { cursor } : {}) });
      expect(page.sessions.length).toBeLessThanOrEqual(5);
      seen.push(...jtis(page));
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(seen.toSorted()).toEqual(opened.toSorted());
  });

  test('end early where few sessions match, and go on from there', async () => {
    const { open, instance } = await shop();
    const tools: string[] = [];
    for (let n = 0; n < 12; n++) {
      const isTool = n % 4 === 0;
      const jti = await open(n, `10.${n % 3}.0.${n}`, isTool ? 'curl/8.5.0' : CHROME);
      if (isTool) tools.push(jti);
    }
    const filter = { minRisk: 0.3, since: 0, ip: null };
    const seen: string[] = [];
    let before: SessionPlace | null = null;
    let pages = 0;
    do {
      const query = { ...filter, before, limit: 10, examinedMax: 2 };
      const page = await listSessions(serviceEnv, instance.id, query, testNow());
      seen.push(...page.sessions.map(({ jti }) => jti));
      before = page.next;
      pages++;
    } while (before !== null);
    expect(seen).toEqual(tools.toReversed());
    expect(pages).toBeGreaterThan(1);
  });

  test('begin at a cursor of this list only', async () => {
    const { list, token } = await shop();
    expect((await list({ limit: 200 })).sessions).toEqual([]);
    for (const body of [{ cursor: 'x' }, { cursor: 'W10' }, { minRisk: 2 }, { ip: 'nowhere' }, { limit: 201 }]) {
      const { status, body: answer } = await call(token, '/protect/sessions', body);
      expect([status, answer.error.details[0].path]).toEqual([400, Object.keys(body)[0]]);
    }
  });
});
