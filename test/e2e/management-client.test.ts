/**
 * The client generated from the OpenAPI document drives every operation of a running stack. That it
 * type-checks proves the requests; that every answer fits its schema and no operation is left over
 * proves the rest.
 */
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
// oxlint-disable-next-line no-restricted-imports -- only the classic build reads JSON Schema; a test ships nothing
import { fromJSONSchema } from 'zod';
import { apiClient } from '../support/api-client.generated.ts';
import { eventually, useStack } from '../support/stack.ts';

interface Document {
  paths: Record<string, Record<string, { operationId: string; tags: string[] }>>;
  components: { schemas: Record<string, object> };
}

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document;
const management = Object.values(document.paths)
  .flatMap((item) => Object.values(item))
  .filter((operation) => !operation.tags.includes('Verification'))
  .map((operation) => operation.operationId);

const stackOf = useStack();
const called = new Set<string>();
let api: ReturnType<typeof apiClient>;

async function send(operationId: string, method: string, path: string, body: unknown): Promise<unknown> {
  const { serviceUrl, apiKey } = stackOf();
  const response = await fetch(`${serviceUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${operationId}: ${response.status} ${text}`);
  called.add(operationId);
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  if (!isJson) return text;
  const answer: unknown = JSON.parse(text);
  const schema = document.components.schemas[`${operationId}.response`] as Parameters<typeof fromJSONSchema>[0];
  const checked = fromJSONSchema(schema).safeParse(answer);
  expect(checked.success ? [] : [operationId, ...checked.error.issues]).toEqual([]);
  return answer;
}

beforeAll(() => {
  api = apiClient(send);
});

describe('through the generated client', () => {
  test('a site is made, changed, found and deactivated', async () => {
    const made = await api.createSite({ name: 'shop', settings: { domains: ['https://www.Shop.example/'] } });
    expect(made.settings.domains).toEqual(['shop.example']);
    const changed = await api.updateSite({ siteKey: made.siteKey, settings: { powDifficulty: 5 } });
    expect(changed.settings.powDifficulty).toBe(5);
    expect(await api.getSite({ siteKey: made.siteKey })).toEqual(changed);
    expect((await api.getSites()).map((site) => site.siteKey)).toContain(made.siteKey);
    expect(await api.deleteSite({ siteKey: made.siteKey })).toEqual({
      success: true,
      deactivatedSiteKey: made.siteKey,
    });
  });

  test('an access control rule goes round, and its group goes away', async () => {
    const rule = {
      type: 'restrict' as const,
      conditions: [{ field: 'asn' as const, operator: 'equals', value: 64496 }],
      captchaType: 'pow' as const,
      ruleGroupId: 'scrapers',
    };
    expect(await api.createAccessControlRule({ rule })).toEqual({ status: 'Added new rule' });
    const [listed] = (await api.getAccessControlRules({ ruleGroupId: 'scrapers' })).rules;
    expect(listed).toBeDefined();
    if (!listed) return;
    await api.createAccessControlRule({ rule: listed });
    expect((await api.getAccessControlRules()).ruleCount).toBe(1);
    expect(await api.deleteAccessControlRule({ userScopeHash: listed.userScopeHash })).toEqual({
      status: 'Deleted rule',
    });
    await api.createAccessControlRule({ rule: listed });
    const { status, jobId } = await api.deleteRuleGroup({ ruleGroupId: 'scrapers' });
    expect(status).toBe(`Group removal pending. Job ID: ${jobId}`);
    const job = await eventually(
      () => api.getRuleGroupJob({ jobId }),
      (one) => one.status === 'finished',
    );
    expect(job.deletedCount).toBe(1);
  });

  test('a team member comes and goes', async () => {
    await api.createUser({ email: 'ann@example.com', name: 'Ann', role: 'viewer' });
    expect(await api.updateUser({ email: 'ann@example.com', userType: 'admin' })).toEqual({ success: true });
    expect((await api.getUsers()).map((user) => [user.email, user.role])).toContainEqual(['ann@example.com', 'admin']);
    expect((await api.deleteUser({ email: 'ann@example.com' })).deletedUserEmail).toBe('ann@example.com');
  });

  test('an API key is made, listed with the same token, and deleted', async () => {
    const made = await api.createApiKey({ name: 'ci', permissions: { Traffic: ['getTraffic'] }, expiresIn: 60 });
    expect((await api.getApiKeys()).find((key) => key.apiKeyId === made.apiKeyId)?.token).toBe(made.token);
    expect(await api.deleteApiKey({ apiKeyId: made.apiKeyId })).toEqual({ success: true });
    expect((await api.getAuditTrail({ limit: 1 })).entries[0]?.operation).toBe('delete-api-key');
  });

  test('an instance, its client JWTs and its deletion', async () => {
    const site = await api.createSite({ name: 'second', settings: { domains: ['second.example'] } });
    const made = await api.createInstance({ name: 'Second', cname: 'second.example', globalSiteKey: site.siteKey });
    const changed = await api.updateInstance({ id: made.id, monitor: true });
    expect(changed.monitor).toBe(true);
    expect(await api.listInstances()).toContainEqual(changed);
    const issued = await api.generateClientJwt({ protectInstanceId: made.id, expiresInWeeks: 4 });
    await api.revokeClientJwt({ protectInstanceId: made.id, jti: issued.jti });
    expect((await api.listOriginKeys({ protectInstanceId: made.id })).keys).toHaveLength(10);
    const { clientJwts } = await api.listClientJwts({ protectInstanceId: made.id });
    expect(clientJwts.map((one) => [one.jti, one.status])).toEqual([[issued.jti, 'revoked']]);
    expect(await api.deleteInstance({ id: made.id })).toEqual({ success: true, id: made.id });
  });

  test('edge access rules, forwards and back', async () => {
    const rule = { type: 'ip' as const, value: '192.0.2.1', verdict: 'block' as const };
    await api.previewAccessRules({ rules: [rule] });
    const { version } = await api.createAccessRules({ rules: [rule] });
    await api.listAccessRules({ type: 'ip' });
    await api.explainAccessRules({ ip: '192.0.2.1' });
    await api.importAccessRules({ content: '198.51.100.7\n', verdict: 'challenge' });
    await api.exportAccessRules({});
    await api.accessRulesHistory();
    await api.rollbackAccessRules({ version });
    await api.deleteAccessRules({ conditions: [{ type: 'ip', value: '192.0.2.1' }] });
  });

  test('the verdict log answers every question', async () => {
    const { edgeUrl } = stackOf();
    await fetch(`${edgeUrl}/echo/x`);
    const since = Date.now() - 60_000;
    await eventually(
      () => api.listVerdicts({ limit: 1 }),
      (answer) => JSON.stringify(answer).includes('"request_id"'),
    );
    await api.searchVerdicts({ ip: '127.0.0.1' });
    await api.listDistinctSources({ since });
    await api.listDistinctFiredRules({ since });
    await api.getTrafficSummary({ since });
    await api.getTrafficByDimension({ groupBy: 'decision' });
    await api.getSessionTelemetry({ jti: 'unknown' });
    await api.getRiskHistory({ jti: 'unknown' });
    await api.exportVerdicts({});
    await api.eraseSession({ jti: 'unknown' });
    expect(await api.getMetrics()).toContain('gatehouse_');
  });

  test('traffic and captcha records answer', async () => {
    const { siteKey } = stackOf();
    const ignored = { token: 'ignored', accountId: 'ignored' };
    expect(await api.getTrafficData({ ...ignored, month: 2, year: 2026 })).toHaveLength(28);
    expect((await api.getLiveSessions({ ...ignored, siteKey })).windowMinutes).toBe(60);
    expect((await api.searchCaptchaRecords({ siteKey, captchaType: 'pow' })).limit).toBe(20);
  });

  test('no operation is left over', () => {
    expect([...called].toSorted()).toEqual(management.toSorted());
  });
});
