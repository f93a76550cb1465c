/**
 * The risk of a session through the edge's API: opened, renewed, reported and erased, with the view of the edges and of
 * an operator.
 */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { base64url, decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { mintSessionJwt } from '../../../src/risk/session-token.ts';
import { visitorBinding } from '../../../src/address/visitor-binding.ts';
import { type EdgeVisitor } from '../../../src/contract/edge/edge-api.ts';
import { edgeConfig, type EdgeSession, edgeSession } from '../../../src/contract/edge/edge-responses.ts';
import { detectorsOf } from '../../../src/contract/edge/risk-detectors.ts';
import { riskHistoryResponse, sessionTelemetryResponse } from '../../../src/contract/management/verdict-query.ts';
import { retireDeletedInstances } from '../../../src/service/ingest/retire-deleted-instances.ts';
import { listBook, sessionBook } from '../../../src/store/risk-book/client/session-books.ts';
import { later, setClock, testNow } from '../../support/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';
import { earnSession } from '../../support/session.ts';
import { environmentOf, CHROME, headersOf, reportOf } from '../../unit/risk/session-facts.ts';
import { call, newAccount, sendOnly, serviceEnv } from './service-under-test.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let names = 0;
async function newGate(policy: object = {}) {
  names += 1;
  const account = await newAccount();
  const instance = await call(account.token, '/protect/instances/create', {
    name: 'Gate',
    cname: `risk${names}.example.org`,
    globalSiteKey: account.site.siteKey,
    ...policy,
  });
  const instanceId = instance.body.id as string;
  const issued = await call(account.token, '/protect/client-jwt/generate', {
    protectInstanceId: instanceId,
    expiresInWeeks: 1,
  });
  const edge = issued.body.clientJwt as string;
  return {
    instanceId,
    siteKey: account.site.siteKey,
    manage: (path: string, body: object) => call(account.token, path, body),
    async session(visitor: EdgeVisitor, jwt?: string): Promise<EdgeSession> {
      const known = jwt === undefined ? {} : { jwt };
      const { body } = await earnSession(
        (page) => call(edge, '/edge/v1/sessions', { visitor, ...known, page }),
        environmentOf({ userAgent: visitor.userAgent }),
      );
      return edgeSession.parse(body);
    },
    /** After the four seconds that the page was open. */
    report(visitor: EdgeVisitor, jwt: string, changes: Parameters<typeof reportOf>[0]) {
      later(reportOf().elapsedMs);
      return this.reportNow(visitor, jwt, changes);
    },
    reportNow: (visitor: EdgeVisitor, jwt: string, changes: Parameters<typeof reportOf>[0]) =>
      call(edge, '/edge/v1/sessions/telemetry', { visitor, jwt, report: reportOf(changes) }, 'POST', sendOnly),
    append: (records: object[]) => call(edge, '/edge/v1/verdicts', { records }),
    version: async () => (await call(edge, '/edge/v1/version', undefined, 'GET')).body.configVersion as string,
    config: async () => edgeConfig.parse((await call(edge, '/edge/v1/config', undefined, 'GET')).body),
  };
}

const visitorFrom = (ip: string, changes: Partial<EdgeVisitor> = {}): EdgeVisitor => ({
  ip,
  userAgent: CHROME,
  asn: 64_496,
  country: 'DE',
  ja4: null,
  ipCategories: [],
  requestId: crypto.randomUUID(),
  host: 'example.org',
  headers: headersOf(),
  ...changes,
});
const riskOf = ({ jwt }: EdgeSession) => {
  const { risk, det } = decodeJwt<{ risk: number; det: number }>(jwt);
  return { risk, fired: detectorsOf(det) };
};

describe('opening a session', () => {
  test('puts the score and its parts into the JWT', async () => {
    const gate = await newGate();
    expect(riskOf(await gate.session(visitorFrom('192.0.2.1')))).toEqual({ risk: 0, fired: [] });
    const tool = visitorFrom('192.0.2.1', { userAgent: 'curl/8.5.0', ipCategories: ['datacenter'] });
    delete tool.headers;
    expect(riskOf(await gate.session(tool))).toEqual({
      risk: 0.75,
      fired: ['automation-user-agent', 'category-datacenter'],
    });
  });

  test('leaves out the weight of what the instance ignores', async () => {
    const gate = await newGate({ ignoredDetectors: ['automation-user-agent', 'no-accept-language'] });
    const tool = visitorFrom('192.0.2.1', { userAgent: 'curl/8.5.0', ipCategories: ['datacenter'] });
    delete tool.headers;
    expect(riskOf(await gate.session(tool))).toEqual({ risk: 0.25, fired: ['category-datacenter'] });
  });

  test('again and again from one address without interaction is cookie cycling, and with interaction it is not', async () => {
    const gate = await newGate({ cookieCycling: { threshold: 3, windowSeconds: 60 } });
    const visitor = visitorFrom('198.51.100.9');
    const touched = await gate.session(visitor);
    await gate.report(visitor, touched.jwt, {});
    const opened = [];
    for (let visit = 0; visit < 4; visit++) opened.push(riskOf(await gate.session(visitor)).fired);
    expect(opened).toEqual([[], [], [], ['cookie-cycling']]);
    expect(riskOf(await gate.session(visitorFrom('203.0.113.9'))).fired).toEqual([]);
  });

  test('from an address where as many sessions have interaction raises nothing', async () => {
    const gate = await newGate({ cookieCycling: { threshold: 2, windowSeconds: 60 } });
    const visitor = visitorFrom('198.51.100.9');
    for (let person = 0; person < 3; person++) await gate.report(visitor, (await gate.session(visitor)).jwt, {});
    const opened = [];
    for (let visit = 0; visit < 5; visit++) opened.push(riskOf(await gate.session(visitor)).fired);
    expect(opened).toEqual([[], [], [], [], ['cookie-cycling']]);
  });

  test('by the neighbours of a visitor raises nothing for them, however many they open', async () => {
    const gate = await newGate({ cookieCycling: { threshold: 2, windowSeconds: 60 } });
    for (let host = 1; host <= 6; host++) await gate.session(visitorFrom(`198.51.100.${host}`));
    expect(riskOf(await gate.session(visitorFrom('198.51.100.99')))).toEqual({ risk: 0, fired: [] });
    for (let host = 0; host < 3; host++) await gate.session(visitorFrom(`2001:db8:7:1::${host}`));
    expect(riskOf(await gate.session(visitorFrom('2001:db8:7:1::9'))).fired).toEqual(['cookie-cycling']);
    expect(riskOf(await gate.session(visitorFrom('2001:db8:7:2::9'))).fired).toEqual([]);
  });

  test('with input that came too soon does not count as a person’s', async () => {
    const gate = await newGate({ cookieCycling: { threshold: 2, windowSeconds: 60 } });
    const visitor = visitorFrom('198.51.100.9');
    for (let visit = 0; visit < 3; visit++) {
      const { jwt } = await gate.session(visitor);
      expect((await gate.reportNow(visitor, jwt, { elapsedMs: 900, visibleMs: 900 })).status).toBe(200);
    }
    expect(riskOf(await gate.session(visitor)).fired).toEqual(['cookie-cycling']);
  });

  test('with the cookie of another network records the changes, and raises nothing: it may be planted', async () => {
    const gate = await newGate();
    let session = await gate.session(visitorFrom('192.0.2.1'));
    const fired = [];
    for (const ip of ['198.51.100.1', '203.0.113.1', '198.18.0.1']) {
      session = await gate.session(visitorFrom(ip), session.jwt);
      fired.push(riskOf(session).fired);
    }
    expect(fired).toEqual([['address-change'], ['address-change'], ['address-change', 'address-hopping']]);
    const renamed = visitorFrom('198.18.0.1', { userAgent: CHROME.replaceAll('153', '154') });
    const { risk, fired: last } = riskOf(await gate.session(renamed, session.jwt));
    expect(last).toEqual(expect.arrayContaining(['address-change', 'address-hopping', 'user-agent-change']));
    expect(risk).toBe(riskOf(await gate.session(renamed)).risk);
  });
});

describe('telemetry', () => {
  test('that raises a score over the threshold reaches the edges with a new version, and is in the next JWT', async () => {
    const gate = await newGate();
    const visitor = visitorFrom('192.0.2.1');
    const session = await gate.session(visitor);
    const before = await gate.version();
    await gate.report(visitor, session.jwt, { traits: ['no-chrome-object'] });
    // Below the threshold no verdict changes, so the edges get no new version.
    expect(await gate.version()).toBe(before);
    await gate.report(visitor, session.jwt, { traits: ['webdriver'] });
    expect(await gate.version()).not.toBe(before);
    const config = await gate.config();
    expect(config.configVersion).toBe(await gate.version());
    expect(config.raisedJtis).toMatchObject([{ jti: session.jti, score: 0.8 }]);
    expect(detectorsOf(config.raisedJtis[0]?.detectors ?? 0)).toEqual(['webdriver', 'headless-traits']);
    expect(riskOf(await gate.session(visitor, session.jwt)).risk).toBe(0.8);
  });

  test('raised scores leave the list when no older JWT can be valid', async () => {
    const gate = await newGate();
    const visitor = visitorFrom('192.0.2.1');
    const session = await gate.session(visitor);
    await gate.report(visitor, session.jwt, { traits: ['webdriver', 'automation-global'] });
    const lists = listBook(serviceEnv, gate.instanceId);
    expect((await lists.lists(testNow() + 300_000)).raised).toHaveLength(1);
    expect((await lists.lists(testNow() + 311_000)).raised).toHaveLength(0);
  });

  test('that claims more time than the session has lived is refused, and raises the score', async () => {
    const gate = await newGate();
    const visitor = visitorFrom('192.0.2.1');
    const session = await gate.session(visitor);
    const refused = await gate.reportNow(visitor, session.jwt, { elapsedMs: 45_000, visibleMs: 45_000 });
    expect(refused.status).toBe(400);
    expect(refused.body.error.key).toBe('API.INVALID_BODY');
    const telemetry = await gate.manage('/protect/session-telemetry', { jti: session.jti });
    expect(telemetry.body).toMatchObject({
      session: { risk_score: 0.4, implausible_reports: 1, interacted: false },
      telemetry: [],
    });
    expect((await gate.report(visitor, session.jwt, {})).status).toBe(200);
  });

  test('of a session that this book no longer knows is judged by the session’s own age', async () => {
    const gate = await newGate();
    const visitor = visitorFrom('192.0.2.1');
    const session = await gate.session(visitor);
    await runInDurableObject(
      sessionBook(serviceEnv, gate.instanceId, session.jti) as unknown as DurableObjectStub,
      (_, state) => {
        const tables = "SELECT name FROM sqlite_master WHERE name GLOB 'sessions_[0-9]*'";
        for (const { name } of state.storage.sql.exec<{ name: string }>(tables).toArray()) {
          state.storage.sql.exec(`DELETE FROM ${name}`);
        }
      },
    );
    later(HOUR_MS);
    const renewed = await gate.session(visitor, session.jwt);
    expect(renewed.jti).toBe(session.jti);
    expect((await gate.reportNow(visitor, renewed.jwt, { elapsedMs: HOUR_MS })).status).toBe(200);
  });

  test('of another visitor is refused and changes nothing', async () => {
    const gate = await newGate();
    const session = await gate.session(visitorFrom('192.0.2.1'));
    const { status } = await gate.report(visitorFrom('203.0.113.5'), session.jwt, { traits: ['webdriver'] });
    expect(status).toBe(401);
    expect((await sessionBook(serviceEnv, gate.instanceId, session.jti).read(session.jti))?.score).toBe(0);
  });

  test('is listed with the score, its parts and the time', async () => {
    const gate = await newGate();
    const visitor = visitorFrom('192.0.2.1');
    const session = await gate.session(visitor);
    await gate.report(visitor, session.jwt, { traits: ['webdriver', 'automation-global'] });
    const { jti } = session;
    const history = riskHistoryResponse.parse((await gate.manage('/protect/risk-history', { jti })).body);
    expect(history.scores).toMatchObject([
      { risk_score: 0, cause: 'opened', parts: [] },
      {
        risk_score: 0.9,
        cause: 'telemetry',
        parts: [
          { detector: 'webdriver', weight: 0.5 },
          { detector: 'automation-global', weight: 0.4 },
        ],
      },
    ]);
    expect(history).toMatchObject({ latest_risk_score: 0.9, highest_risk_score: 0.9 });
    // The log has a report some seconds after the score.
    const { session: listed } = await eventually(
      async () => sessionTelemetryResponse.parse((await gate.manage('/protect/session-telemetry', { jti })).body),
      ({ telemetry }) => telemetry.length === 1,
    );
    expect(listed).toMatchObject({ risk_score: 0.9, reports: 1, interacted: true });
  });
});

describe('a burst in the verdicts', () => {
  test('raises the score of its own session only', async () => {
    const gate = await newGate({ challengeThreshold: 0.2 });
    const visitor = visitorFrom('192.0.2.1');
    const [busy, calm] = [await gate.session(visitor), await gate.session(visitor)];
    const record = (jti: string) =>
      verdictRecordOf(gate.instanceId, { site_key: gate.siteKey, jti, timestamp: testNow() });
    await gate.append([
      ...Array.from({ length: 320 }, () => record(busy.jti)),
      ...Array.from({ length: 5 }, () => record(calm.jti)),
    ]);
    expect((await gate.config()).raisedJtis.map(({ jti }) => jti)).toEqual([busy.jti]);
  });
});

describe('erasing', () => {
  test('ends the session: nothing is kept or accepted, and its JWT cannot be renewed', async () => {
    const gate = await newGate();
    const visitor = visitorFrom('192.0.2.1');
    const session = await gate.session(visitor);
    const { jti } = session;
    await gate.report(visitor, session.jwt, { traits: ['webdriver'] });
    expect((await gate.manage('/protect/sessions/erase', { jti })).status).toBe(200);
    const config = await gate.config();
    expect(config.withdrawnJtis).toEqual([jti]);
    expect(config.raisedJtis).toEqual([]);
    expect((await gate.report(visitor, session.jwt, {})).status).toBe(401);
    const next = await gate.session(visitor, session.jwt);
    expect(next.jti).not.toBe(jti);
    const telemetry = await gate.manage('/protect/session-telemetry', { jti });
    expect(telemetry.body).toMatchObject({ session: null, telemetry: [], latest_risk_score: null });
    expect((await gate.manage('/protect/risk-history', { jti })).body).toMatchObject({ scores: [], history: [] });
  });

  test('of an unknown jti changes nothing', async () => {
    const gate = await newGate();
    expect((await gate.manage('/protect/sessions/erase', { jti: 'never-was' })).body).toMatchObject({ erased: 0 });
  });
});

describe('an expired session', () => {
  /** A JWT under the instance's own key, `seconds` from now for it and for the session. */
  async function minted(gate: Awaited<ReturnType<typeof newGate>>, visitor: EdgeVisitor, exp: number, sxp: number) {
    const { current } = (await gate.config()).keys;
    const nowSeconds = Math.floor(testNow() / 1000);
    return mintSessionJwt(base64url.decode(current.session), current.kid, {
      jti: 'an-older-session',
      sub: gate.instanceId,
      iat: nowSeconds - 4000,
      exp: nowSeconds + exp,
      sxp: nowSeconds + sxp,
      risk: 0,
      bnd: await visitorBinding(visitor.ip, visitor.userAgent),
    });
  }

  test('cannot be renewed, but one whose JWT alone has expired can', async () => {
    const gate = await newGate();
    const visitor = visitorFrom('192.0.2.1');
    const renewed = await gate.session(visitor, await minted(gate, visitor, -600, 60));
    expect(renewed.jti).toBe('an-older-session');
    expect(renewed.jwtExpiresAt).toBe(renewed.expiresAt);
    const next = await gate.session(visitor, await minted(gate, visitor, -600, -1));
    expect(next.jti).not.toBe('an-older-session');
    const report = await gate.report(visitor, await minted(gate, visitor, -600, -1), {});
    expect(report.status).toBe(401);
  });

  test('is kept for the instance’s retention time and no longer', async () => {
    const gate = await newGate({ retentionDays: 1, jtiExpirySeconds: 300 });
    const { jti, expiresAt } = await gate.session(visitorFrom('192.0.2.1'));
    const book = sessionBook(serviceEnv, gate.instanceId, jti);
    const keptUntil = expiresAt + DAY_MS;
    later(keptUntil - 1 - testNow());
    expect(await book.read(jti)).toMatchObject({ network: '192.0.2.0/24', addresses: ['192.0.2.1'] });
    later(1);
    expect(await book.read(jti)).toBeNull();
    // Its row goes away with those of the same day.
    later(DAY_MS + HOUR_MS);
    const stub = book as unknown as DurableObjectStub;
    await runDurableObjectAlarm(stub);
    const tables = "SELECT name FROM sqlite_master WHERE name GLOB 'sessions_[0-9]*'";
    const left = await runInDurableObject(stub, (_, { storage }) => storage.sql.exec(tables).toArray());
    expect(left).toEqual([]);
  });
});

describe('a deleted instance', () => {
  /** Makes an instance with a raised session. Returns the two books that have data, and the data. */
  async function withSession() {
    const gate = await newGate();
    const visitor = visitorFrom('192.0.2.1');
    const { jti, jwt } = await gate.session(visitor);
    await gate.report(visitor, jwt, { traits: ['webdriver', 'automation-global'] });
    const books = [sessionBook(serviceEnv, gate.instanceId, jti), listBook(serviceEnv, gate.instanceId)] as const;
    const held = async () => ({
      session: (await books[0].read(jti)) !== null,
      raised: (await books[1].lists(testNow())).raised.length,
    });
    const ring = async (): Promise<void> => {
      for (const book of books) await runDurableObjectAlarm(book as unknown as DurableObjectStub);
    };
    return { gate, held, ring };
  }

  test('has no session data left a minute later', async () => {
    const { gate, held, ring } = await withSession();
    await gate.manage('/protect/instances/delete', { id: gate.instanceId });
    await ring();
    expect(await held()).toEqual({ session: true, raised: 1 });
    later(61_000);
    await ring();
    expect(await held()).toEqual({ session: false, raised: 0 });
  });

  test('whose deletion was interrupted is found by the hourly run', async () => {
    const { gate, held, ring } = await withSession();
    const now = testNow();
    const deleteRow = 'UPDATE protect_instances SET active = 0, updated_at = ? WHERE id = ?';
    await serviceEnv.DB.prepare(deleteRow).bind(now, gate.instanceId).run();
    const hour = Math.ceil(now / HOUR_MS) * HOUR_MS;
    await retireDeletedInstances(serviceEnv, hour);
    setClock(hour + 61_000);
    await ring();
    expect((await held()).session).toBe(false);
  });
});
