/** What an edge receives of its own instance's rules, and that it receives no others. */
import { runDurableObjectAlarm } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import { RULESET_MEDIA_TYPE } from '../../src/contract/edge/edge-api.ts';
import { edgeVersion } from '../../src/contract/edge/edge-responses.ts';
import { ruleBook, rulePage } from '../../src/store/rule-book/client.ts';
import { expectRows } from '../support/rows.ts';
import { asEdge, newInstance } from './rule-book-instance.ts';
import { ruleBookStub } from './rule-book-loaded.ts';
import { call, send, serviceEnv } from './service/service-under-test.ts';

describe('the edge', () => {
  test('gets a new version as soon as a rule is written, and can load base and delta', async () => {
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

  test('gets a base with the longest allowed values', async () => {
    const { rules, jwt, id } = await newInstance();
    const longest = Array.from({ length: 4000 }, (_, i) => ({
      type: 'userAgent',
      value: `${i} ${'€'.repeat(300 - String(i).length - 1)}`,
      verdict: 'block',
      note: '€'.repeat(1000),
    }));
    expect((await rules('/create', { rules: longest })).body).toMatchObject({ created: 4000 });
    await ruleBook(serviceEnv, id).compile();
    const { base } = edgeVersion.parse(await (await asEdge(jwt, '/edge/v1/version')).json());
    expect(base.version).toBe(1);
    expect((await asEdge(jwt, `/edge/v1/rulesets/${base.hash}`)).status).toBe(200);
    expect((await rules('', {})).body.rules).toHaveLength(4000);
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

  test('gets 404 for an unknown ruleset', () =>
    expectRows(['0'.repeat(64), 'x', '..', '0'.repeat(63)], async (hash) => {
      const { jwt } = await newInstance();
      expect((await asEdge(jwt, `/edge/v1/rulesets/${encodeURIComponent(hash)}`)).status).toBe(404);
      expect((await asEdge(jwt, `/edge/v1/rulesets/${'0'.repeat(64)}/delta/x`)).status).toBe(404);
    }));
});

test('deleting an instance deletes its rules and their files', async () => {
  const { token, rules, jwt, id } = await newInstance();
  await rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] });
  await asEdge(jwt, '/edge/v1/version');
  expect((await serviceEnv.RULESETS.list({ prefix: `rulesets/${id}/` })).objects).toHaveLength(1);
  expect((await call(token, '/protect/instances/delete', { id })).status).toBe(200);
  expect((await asEdge(jwt, '/edge/v1/version')).status).toBe(401);
  const book = ruleBookStub(id);
  expect(await runDurableObjectAlarm(book)).toBe(true);
  expect((await serviceEnv.RULESETS.list({ prefix: `rulesets/${id}/` })).objects).toEqual([]);
  expect(await rulePage(book, { limit: 10 })).toEqual({ rules: [], total: 0, version: 0 });
  expect((await book.history(10, null)).versions).toEqual([]);
});
