/** What the service knows of each edge: when it last made contact, and which rules and config it has taken. */
import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import { edgeVersion } from '../../src/contract/edge/edge-responses.ts';
import { later, testNow } from '../support/clock.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { asEdge, newInstance, sendVerdicts } from './rule-book-instance.ts';
import { ruleBookStub } from './rule-book-loaded.ts';
import { call, newAccount, send } from './service/service-under-test.ts';
import { writtenBy } from './written-by.ts';

const MINUTE_MS = 60_000;

async function withEdge() {
  const instance = await newInstance();
  const read = async () => (await call(instance.token, '/protect/edges', { protectInstanceId: instance.id })).body;
  return {
    ...instance,
    read,
    edge: async () => (await read()).edges[0],
    metric: async (name: string): Promise<string[]> => {
      const response = await send('/protect/metrics', { headers: { authorization: `Bearer ${instance.token}` } });
      const lines = (await response.text()).split('\n');
      return lines.filter((line) => line.startsWith(`gatehouse_${name}{instance="${instance.id}"`));
    },
    /** What an edge does behind a response: it asks for the version, and takes what it names. */
    follow: async () => {
      const version = edgeVersion.parse(await (await asEdge(instance.jwt, '/edge/v1/version')).json());
      await asEdge(instance.jwt, `/edge/v1/rulesets/${version.base.hash}`);
      if (version.delta.version > version.base.version) {
        await asEdge(instance.jwt, `/edge/v1/rulesets/${version.base.hash}/delta/${version.delta.version}`);
      }
      return version;
    },
  };
}

const block = (value: string) => ({ rules: [{ type: 'ip', value, verdict: 'block' }] });

describe('an edge', () => {
  test('that never called is listed by its client JWT, without a contact', async () => {
    const { read, metric } = await withEdge();
    const { edges, rulesVersion } = await read();
    expect(rulesVersion).toBe(0);
    expect(edges).toEqual([
      {
        clientJwtId: expect.any(String),
        status: 'active',
        issuedAt: expect.any(Number),
        expiresAt: expect.any(Number),
        lastContactAt: null,
        state: 'never-seen',
        build: null,
        colo: null,
        rules: null,
        config: null,
      },
    ]);
    expect(await metric('edge_contact_age_seconds')).toEqual([]);
  });

  test('of a site without visitors makes contact by its poll', async () => {
    const { jwt, edge, metric } = await withEdge();
    const before = testNow();
    await asEdge(jwt, '/edge/v1/version');
    const seen = await edge();
    expect(seen).toMatchObject({ state: 'in-contact', rules: null });
    expect(seen.lastContactAt).toBeGreaterThanOrEqual(before);
    expect(await metric('edge_contact_age_seconds')).toEqual([
      expect.stringMatching(new RegExp(`,edge="${seen.clientJwtId}"\\} \\d+$`)),
    ]);
    later(4 * MINUTE_MS);
    expect(await edge()).toMatchObject({ state: 'silent', lastContactAt: seen.lastContactAt });
    expect((await metric('edge_contact_age_seconds'))[0]).toMatch(/ 24\d$/);
  });

  test('that takes each version has the newest rules, and one that only polls falls behind', async () => {
    const { jwt, rules, follow, edge, metric } = await withEdge();
    await follow();
    expect((await edge()).rules).toEqual({ version: 0, isCurrent: true, behindSince: null });
    await rules('/create', block('192.0.2.1'));
    await follow();
    expect((await edge()).rules).toEqual({ version: 1, isCurrent: true, behindSince: null });
    const changedAt = testNow();
    await rules('/create', block('192.0.2.2'));
    await asEdge(jwt, '/edge/v1/version');
    const { rules: held, state } = await edge();
    expect(held).toEqual({ version: 1, isCurrent: false, behindSince: expect.any(Number) });
    expect(held.behindSince).toBeGreaterThanOrEqual(changedAt);
    expect(state).toBe('in-contact');
    expect((await metric('edge_rules_old'))[0]).toMatch(/ 0$/);
    later(4 * MINUTE_MS);
    await asEdge(jwt, '/edge/v1/version');
    expect(await edge()).toMatchObject({ state: 'old-rules', rules: { version: 1 } });
    expect((await metric('edge_rules_old'))[0]).toMatch(/ 1$/);
    await follow();
    expect(await edge()).toMatchObject({ state: 'in-contact', rules: { version: 2, isCurrent: true } });
  });

  test('shows the config that it took', async () => {
    const { jwt, edge } = await withEdge();
    const { configVersion } = (await (await asEdge(jwt, '/edge/v1/config')).json()) as { configVersion: string };
    expect((await edge()).config).toEqual({ version: configVersion, takenAt: expect.any(Number) });
  });

  test('shows its build, its location and its rules from the verdicts that it sends', async () => {
    const { jwt, id, rules, edge } = await withEdge();
    await rules('/create', block('192.0.2.1'));
    const record = verdictRecordOf(id, {
      timestamp: testNow(),
      ruleset_version: 1,
      edge: { colo: 'CDG', version: 'build-7', isolate: 'isolate-1', seq: 0 },
    });
    expect((await sendVerdicts(jwt, 'batch-1', [record])).status).toBe(200);
    expect(await edge()).toMatchObject({ build: 'build-7', colo: 'CDG', rules: { version: 1, isCurrent: true } });
  });

  test('cannot claim rules that do not exist', async () => {
    const { jwt, id, edge } = await withEdge();
    const record = verdictRecordOf(id, { timestamp: testNow(), ruleset_version: Number.MAX_SAFE_INTEGER });
    await sendVerdicts(jwt, 'batch-1', [record]);
    expect((await edge()).rules).toEqual({ version: 0, isCurrent: true, behindSince: null });
  });

  test('that shares an instance with another one is told from it by its client JWT', async () => {
    const { token, id, jwt, read } = await withEdge();
    const other = await call(token, '/protect/client-jwt/generate', { protectInstanceId: id, expiresInWeeks: 1 });
    await asEdge(jwt, '/edge/v1/version');
    const states = (await read()).edges.map(({ clientJwtId, state }: any) => [clientJwtId === other.body.jti, state]);
    expect(states).toEqual(
      expect.arrayContaining([
        [true, 'never-seen'],
        [false, 'in-contact'],
      ]),
    );
  });

  test('whose client JWT was revoked raises no alarm any more', async () => {
    const { token, id, jwt, edge, metric } = await withEdge();
    await asEdge(jwt, '/edge/v1/version');
    const { clientJwtId } = await edge();
    await call(token, '/protect/client-jwt/revoke', { protectInstanceId: id, jti: clientJwtId });
    expect((await asEdge(jwt, '/edge/v1/version')).status).toBe(401);
    expect(await edge()).toMatchObject({ status: 'revoked', state: 'retired' });
    expect(await metric('edge_contact_age_seconds')).toEqual([]);
  });

  test('is remembered after a restart, and costs one written row a minute', async () => {
    const { jwt, id, follow, edge } = await withEdge();
    await follow();
    const before = await edge();
    const book = ruleBookStub(id);
    await runInDurableObject(book, async (_, state) => {
      const written = await writtenBy(state, async () => {
        for (let poll = 0; poll < 20; poll++) await asEdge(jwt, '/edge/v1/version');
      });
      expect(written).toBe(0);
    });
    later(61_000);
    await runInDurableObject(book, async (_, state) => {
      expect(await writtenBy(state, () => asEdge(jwt, '/edge/v1/version'))).toBe(1);
    });
    const { lastContactAt } = await edge();
    expect(lastContactAt).toBeGreaterThanOrEqual(before.lastContactAt + 60_000);
    await expect(runInDurableObject(book, (_, state) => state.abort('restarted'))).rejects.toThrow('restarted');
    expect(await edge()).toMatchObject({ lastContactAt, rules: { version: 0, isCurrent: true } });
  });
});

test('edges of another account are not shown', async () => {
  const { id } = await withEdge();
  const { token } = await newAccount();
  expect((await call(token, '/protect/edges', { protectInstanceId: id })).status).toBe(404);
});
