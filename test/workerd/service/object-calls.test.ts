/**
 * Calls of Durable Objects are requests to pay for. What a session, a poll and a batch call is counted here, through the
 * service's own routes, and compared with what the bill assumes (src/cli/cost).
 */
import { afterEach, beforeAll, expect, test } from 'vitest';
import {
  OBJECT_CALLS_PER_POLL,
  OBJECT_CALLS_PER_SESSION,
  PIECES_PER_SESSION,
  SERVICE_CALLS_PER_SESSION,
} from '../../../src/cli/cost/usage.ts';
import { type EdgeVisitor } from '../../../src/contract/edge/edge-api.ts';
import { edgeSession } from '../../../src/contract/edge/edge-responses.ts';
import { later, testNow } from '../../support/clock.ts';
import type { SessionChallenge } from '../../../src/contract/captcha/challenge-api.ts';
import { paceWindow } from '../../../src/risk/pace.ts';
import { earnSession, solveWork } from '../../support/session.ts';
import { seededRandom, sinkBatchOf, variedRecord } from '../../support/verdict-record.ts';
import { CHROME, environmentOf, headersOf, reportOf } from '../../unit/risk/session-facts.ts';
import { countedCalls } from '../called-objects.ts';
import { call, newAccount, send, sendOnly, serviceEnv } from './service-under-test.ts';

const { env, made } = countedCalls(serviceEnv);
let jwt: string;
let instanceId: string;
/** Requests of the service. */
let requests = 0;

beforeAll(async () => {
  const account = await newAccount();
  const instance = await call(account.token, '/protect/instances/create', {
    name: 'Gate',
    cname: 'calls.example.org',
    globalSiteKey: account.site.siteKey,
  });
  instanceId = instance.body.id as string;
  const issued = await call(account.token, '/protect/client-jwt/generate', {
    protectInstanceId: instanceId,
    expiresInWeeks: 1,
  });
  jwt = issued.body.clientJwt as string;
});
afterEach(() => {
  made.length = 0;
  requests = 0;
});

async function edge(path: string, body?: object): Promise<{ status: number; body: unknown }> {
  requests++;
  const headers = { authorization: `Bearer ${jwt}`, 'content-type': 'application/json' };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await sendOnly(path, init, env);
  return { status: response.status, body: await response.json() };
}

test('a session that is opened, renewed and reported twice calls as many objects as the bill says', async () => {
  const visitor: EdgeVisitor = {
    ip: '192.0.2.77',
    userAgent: CHROME,
    asn: 64_496,
    country: 'DE',
    ja4: null,
    ipCategories: [],
    requestId: crypto.randomUUID(),
    host: 'calls.example.org',
    headers: headersOf(),
  };
  const opened = await earnSession(
    (page) => edge('/edge/v1/sessions', { visitor, page: { ...page, work: true } }),
    environmentOf({ userAgent: CHROME }),
  );
  let session = edgeSession.parse(opened.body);
  const sessionCall = (page: object, use: object) => ({
    visitor,
    jwt: session.jwt,
    page: { ...page, work: true },
    use,
  });
  for (let report = 0; report < 2; report++) {
    later(reportOf().elapsedMs);
    const sent = await edge('/edge/v1/sessions/telemetry', { visitor, jwt: session.jwt, report: reportOf() });
    expect(sent).toMatchObject({ status: 200 });
  }
  for (let piece = 0; piece < PIECES_PER_SESSION; piece++) {
    // Before the last one the session has used so much that it should work again.
    const use = { window: paceWindow(testNow()), before: 0, now: piece < 2 ? 0 : 150_000 };
    if (piece === 2) session = edgeSession.parse((await edge('/edge/v1/sessions', sessionCall({}, use))).body);
    const { challenge, pow } = session.work as unknown as SessionChallenge;
    const page = { challenge, solution: await solveWork(pow) };
    session = edgeSession.parse((await edge('/edge/v1/sessions', sessionCall(page, use))).body);
  }
  expect(session.work).toBeUndefined();
  const renewed = await edge('/edge/v1/sessions', { visitor, jwt: session.jwt, page: {} });
  expect(edgeSession.parse(renewed.body).jti).toBe(session.jti);
  // Reports travel to the log in batches.
  expect({ requests, calls: made.filter((name) => !name.startsWith('VERDICT_SHARD')).length, made }).toEqual({
    requests: SERVICE_CALLS_PER_SESSION,
    calls: OBJECT_CALLS_PER_SESSION,
    made,
  });
});

test('a poll of an edge calls as many objects as the bill says', async () => {
  await edge('/edge/v1/version');
  made.length = 0;
  await edge('/edge/v1/version');
  expect({ calls: made.length, made }).toEqual({ calls: OBJECT_CALLS_PER_POLL, made });
});

test('a batch with counters calls one object, however many shards the log has', async () => {
  const random = seededRandom(3);
  const many = { ...env, VERDICT_SHARDS: '16' } as ServiceEnv;
  const headers = { authorization: `Bearer ${jwt}`, 'content-type': 'application/json' };
  for (const first of [0, 30]) {
    made.length = 0;
    const records = Array.from({ length: 30 }, (_, at) => variedRecord(instanceId, testNow(), random, first + at));
    const batch = sinkBatchOf(`calls-${first}`, records, { 'challenges{outcome="issued"}': 1 });
    const response = await send('/edge/v1/verdicts', { method: 'POST', headers, body: JSON.stringify(batch) }, many);
    expect(await response.json()).toMatchObject({ accepted: 30 });
  }
  // The first one also told the rule book of the edge, as once a minute.
  expect(made).toEqual(['VERDICT_SHARD.append']);
});
