/**
 * A client typed by the OpenAPI document drives every operation of a running stack. That it type-checks proves the
 * requests. That every response fits its schema, and that no operation is left over, proves the rest.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
// oxlint-disable-next-line no-restricted-imports -- only the classic build reads JSON Schema; a test ships nothing
import { fromJSONSchema } from 'zod';
import { browse } from '../support/browse.ts';
import { serviceApi } from '../support/service-api.ts';
import { eventually, useStack } from '../support/stack.ts';

interface Document {
  paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
  components: { schemas: Record<string, Parameters<typeof fromJSONSchema>[0]> };
}

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document;
const management = Object.values(document.paths)
  .flatMap((item) => Object.values(item))
  .filter((operation) => !operation.tags.includes('Verification'))
  .map((operation) => operation.operationId);

const stackOf = useStack();
const called = new Set<string>();

const api = serviceApi(async (method, path, body) => {
  const { serviceUrl, apiKey } = stackOf();
  const operation = document.paths[path]?.[method]?.operationId ?? path;
  const response = await fetch(`${serviceUrl}${path}`, {
    method: method.toUpperCase(),
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${operation}: ${response.status} ${text}`);
  called.add(operation);
  if (response.headers.get('content-type')?.startsWith('application/json') !== true) return text;
  const result: unknown = JSON.parse(text);
  const checked = fromJSONSchema(document.components.schemas[`${operation}.response`] ?? false).safeParse(result);
  expect(checked.success ? [] : [operation, ...checked.error.issues]).toEqual([]);
  return result;
});

describe('the client typed by the OpenAPI document', () => {
  test('creates, changes, finds and deactivates a site', async () => {
    const made = await api.post('/sites/create', {
      name: 'shop',
      settings: { domains: ['https://www.Shop.example/'] },
    });
    expect(made.settings.domains).toEqual(['shop.example']);
    const changed = await api.post('/sites/update', { siteKey: made.siteKey, settings: { powDifficulty: 5 } });
    expect(changed.settings.powDifficulty).toBe(5);
    expect(await api.post('/site/get', { siteKey: made.siteKey })).toEqual(changed);
    expect((await api.post('/sites/get')).map((site) => site.siteKey)).toContain(made.siteKey);
    expect(await api.post('/sites/delete', { siteKey: made.siteKey })).toEqual({
      success: true,
      deactivatedSiteKey: made.siteKey,
    });
  });

  test('creates an access control rule, lists it, and deletes its group', async () => {
    const rule = {
      type: 'restrict' as const,
      conditions: [{ field: 'asn' as const, operator: 'equals', value: 64496 }],
      captchaType: 'pow' as const,
      ruleGroupId: 'scrapers',
    };
    expect(await api.post('/access-control/create', { rule })).toEqual({ status: 'Added new rule' });
    const [listed] = (await api.post('/access-control/get', { ruleGroupId: 'scrapers' })).rules;
    expect(listed).toBeDefined();
    if (!listed) return;
    await api.post('/access-control/create', { rule: listed });
    expect((await api.post('/access-control/get')).ruleCount).toBe(1);
    expect(await api.post('/access-control/delete', { userScopeHash: listed.userScopeHash })).toEqual({
      status: 'Deleted rule',
    });
    await api.post('/access-control/create', { rule: listed });
    const { status, jobId } = await api.post('/access-control/group/delete', { ruleGroupId: 'scrapers' });
    expect(status).toBe(`Group removal pending. Job ID: ${jobId}`);
    const job = await eventually(
      () => api.post('/access-control/group/job', { jobId }),
      (one) => one.status === 'finished',
    );
    expect(job.deletedCount).toBe(1);
  });

  test('creates, changes and deletes a team member', async () => {
    await api.post('/users/create', { email: 'ann@example.com', name: 'Ann', role: 'viewer' });
    expect(await api.put('/users/update', { email: 'ann@example.com', userType: 'admin' })).toEqual({ success: true });
    expect((await api.get('/users/get')).map((user) => [user.email, user.role])).toContainEqual([
      'ann@example.com',
      'admin',
    ]);
    expect((await api.post('/users/delete', { email: 'ann@example.com' })).deletedUserEmail).toBe('ann@example.com');
  });

  test('creates an API key, lists it with the same token, and deletes it', async () => {
    const made = await api.post('/api-keys/create', {
      name: 'ci',
      permissions: { Traffic: ['getTraffic'] },
      expiresIn: 60,
    });
    expect((await api.post('/api-keys/get')).find((key) => key.apiKeyId === made.apiKeyId)?.token).toBe(made.token);
    expect(await api.post('/api-keys/delete', { apiKeyId: made.apiKeyId })).toEqual({ success: true });
    expect((await api.post('/audit-trail/get', { limit: 1 })).entries[0]?.operation).toBe('delete-api-key');
  });

  test('creates an instance, issues and revokes its client JWTs, and deletes it', async () => {
    const site = await api.post('/sites/create', { name: 'second', settings: { domains: ['second.example'] } });
    const made = await api.post('/protect/instances/create', {
      name: 'Second',
      cname: 'second.example',
      globalSiteKey: site.siteKey,
    });
    const changed = await api.post('/protect/instances/update', { id: made.id, monitor: true });
    expect(changed.monitor).toBe(true);
    expect(await api.post('/protect/instances')).toContainEqual(changed);
    const issued = await api.post('/protect/client-jwt/generate', { protectInstanceId: made.id, expiresInWeeks: 4 });
    await api.post('/protect/client-jwt/revoke', { protectInstanceId: made.id, jti: issued.jti });
    expect((await api.post('/protect/origin-keys', { protectInstanceId: made.id })).keys).toHaveLength(10);
    const { clientJwts } = await api.post('/protect/client-jwt/list', { protectInstanceId: made.id });
    expect(clientJwts.map((one) => [one.jti, one.status])).toEqual([[issued.jti, 'revoked']]);
    expect(await api.post('/protect/instances/delete', { id: made.id })).toEqual({ success: true, id: made.id });
  });

  test('changes edge access rules and rolls them back', async () => {
    const rule = { type: 'ip' as const, value: '192.0.2.1', verdict: 'block' as const };
    await api.post('/protect/access-rules/preview', { rules: [rule] });
    const { version } = await api.post('/protect/access-rules/create', { rules: [rule] });
    await api.post('/protect/access-rules', { type: 'ip' });
    await api.post('/protect/access-rules/explain', { ip: '192.0.2.1' });
    await api.post('/protect/access-rules/import', { content: '198.51.100.7\n', verdict: 'challenge' });
    await api.post('/protect/access-rules/export', {});
    await api.post('/protect/access-rules/history');
    await api.post('/protect/access-rules/rollback', { version });
    await api.post('/protect/access-rules/delete', { conditions: [{ type: 'ip', value: '192.0.2.1' }] });
  });

  test('queries the verdict log in every way', async () => {
    const { edgeUrl } = stackOf();
    await browse(`${edgeUrl}/echo/x`);
    const since = Date.now() - 60_000;
    await eventually(
      () => api.post('/protect/verdicts', { limit: 1 }),
      (answer) => JSON.stringify(answer).includes('"request_id"'),
    );
    await api.post('/protect/verdicts/search', { ip: '127.0.0.1' });
    await api.post('/protect/verdicts/distinct-sources', { since });
    await api.post('/protect/verdicts/distinct-fired-rules', { since });
    await api.post('/protect/traffic-summary', { since });
    await api.post('/protect/traffic-by-dimension', { groupBy: 'decision' });
    await api.post('/protect/session-telemetry', { jti: 'unknown' });
    await api.post('/protect/risk-history', { jti: 'unknown' });
    await api.post('/protect/verdicts/export', {});
    await api.post('/protect/sessions/erase', { jti: 'unknown' });
    expect(await api.get('/protect/metrics')).toContain('gatehouse_');
  });

  test('reads traffic and captcha records', async () => {
    const { siteKey } = stackOf();
    const ignored = { token: 'ignored', accountId: 'ignored' };
    expect(await api.post('/gettrafficdata', { ...ignored, month: 2, year: 2026 })).toHaveLength(28);
    expect((await api.post('/getlivesessions', { ...ignored, siteKey })).windowMinutes).toBe(60);
    expect((await api.post('/audit/searchcaptcharecords', { siteKey, captchaType: 'pow' })).limit).toBe(20);
  });

  test('has called every operation of the document', () => {
    expect([...called].toSorted()).toEqual(management.toSorted());
  });
});
