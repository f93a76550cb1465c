/**
 * A client typed by the OpenAPI document, with types as a stranger generates them, drives every operation of a running
 * stack. That it type-checks proves the requests. That every response, a refusal too, has a declared status and fits its
 * schema, and that no operation is left over, proves the rest.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
// oxlint-disable-next-line no-restricted-imports -- only the classic build reads JSON Schema; a test ships nothing
import { fromJSONSchema } from 'zod';
import { solveRsw } from '../../src/captcha/pow/pow-solve.ts';
import { browse, navigation } from '../support/browse.ts';
import { serviceApi } from '../../src/console/api/service-api.ts';
import { eventually, useStack } from '../support/stack.ts';
import { stackNow } from '../support/clock.ts';

type Schema = Parameters<typeof fromJSONSchema>[0];
interface Declared {
  content: Record<string, { schema: Schema }>;
}
interface Document {
  paths: Record<
    string,
    Record<string, { operationId: string; responses: Record<string, Declared | { $ref: string }> }>
  >;
  components: { schemas: Record<string, Schema>; responses: Record<string, Declared> };
}

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document;
const operations = Object.values(document.paths)
  .flatMap((item) => Object.values(item))
  .map((operation) => operation.operationId);

const stackOf = useStack();
const called = new Set<string>();

/** A call, whose response must be one that the document declares. */
async function ask(method: string, path: string, body: unknown, more: Record<string, string> = {}) {
  const operation = document.paths[path.split('?', 1)[0]!]?.[method];
  const response = await fetch(`${stackOf().serviceUrl}${path}`, {
    method: method.toUpperCase(),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const { status } = response;
  const text = await response.text();
  const given = operation?.responses[status];
  const declared = given && '$ref' in given ? document.components.responses[given.$ref.split('/').at(-1)!] : given;
  expect([operation?.operationId, status, declared === undefined ? text : '']).toEqual([
    expect.any(String),
    status,
    '',
  ]);
  if (status === 200) called.add(operation!.operationId);
  if (response.headers.get('content-type')?.startsWith('application/json') !== true) return { status, body: text };
  const result: unknown = JSON.parse(text);
  const schema = { ...(declared?.content['application/json']?.schema as object), components: document.components };
  const checked = fromJSONSchema(pointingIntoDefs(schema)).safeParse(result);
  expect(checked.success ? [] : [operation?.operationId, ...checked.error.issues]).toEqual([]);
  return { status, body: result };
}

/** The same schema with its references where JSON Schema has them. */
function pointingIntoDefs({ components, ...schema }: { components: Document['components'] }): Schema {
  const text = JSON.stringify({ ...schema, $defs: components.schemas });
  return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as Schema;
}

const api = serviceApi(async (method, path, body) => {
  const { status, body: result } = await ask(method, path, body, { authorization: `Bearer ${stackOf().apiKey}` });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(result)}`);
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
    expect((await api.post('/sites/activate', { siteKey: made.siteKey })).active).toBe(true);
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

  test('keeps lists, replaces and previews them, and says why one cannot be read', async () => {
    const subscribed = await api.post('/protect/lists/create', {
      name: 'feed',
      url: 'https://lists.internal/feed.txt',
    });
    expect(subscribed).toMatchObject({ mode: 'monitor', state: 'new', hasAuthorization: false });
    const { isRead, list } = await api.post('/protect/lists/refresh', { name: 'feed' });
    expect([isRead, list.error]).toEqual([false, 'The host is not a public one']);
    await api.post('/protect/lists/create', { name: 'own', format: 'csv', column: 'ip' });
    const replaced = await api.post('/protect/lists/replace', { name: 'own', content: 'ip\n1.2.3.4\nnonsense\n' });
    expect(replaced).toMatchObject({ entries: 1, report: { lines: 2, notUnderstood: 1 } });
    const enforced = await api.post('/protect/lists/update', { name: 'own', mode: 'enforce' });
    expect((await api.post('/protect/lists')).lists.find(({ name }) => name === 'own')).toEqual(enforced);
    const preview = await api.post('/protect/lists/preview', { name: 'own', content: 'ip\n1.2.3.4\n5.6.7.8\n' });
    expect(preview).toMatchObject({ entries: 2, present: 1, added: 1, removed: 0 });
    for (const name of ['feed', 'own']) {
      expect(await api.post('/protect/lists/delete', { name })).toEqual({ success: true, name });
    }
  });

  test('creates an alert channel, tests it, rotates its secret, and deletes it', async () => {
    const { channel, secret } = await api.post('/alerts/channels/create', {
      name: 'On call',
      shape: 'webhook',
      webhookUrl: 'https://receiver.internal/alerts',
      quietHours: { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin' },
    });
    expect(secret).toMatch(/^whsec_/);
    const channelId = channel.id;
    const changed = await api.post('/alerts/channels/update', { channelId, kinds: ['origin-failing'] });
    expect((await api.post('/alerts/channels')).channels).toEqual([changed]);
    const sent = await api.post('/alerts/channels/test', { channelId });
    expect(sent).toMatchObject({ delivered: false, error: 'The host is not a public one' });
    const { alerts } = await api.post('/alerts/list', { kind: 'test' });
    expect(alerts.map(({ id, deliveries }) => [id, deliveries[0]?.state])).toEqual([[sent.alertId, 'given-up']]);
    expect((await api.post('/alerts/channels/rotate-secret', { channelId })).secret).not.toBe(secret);
    expect(await api.post('/alerts/channels/delete', { channelId })).toEqual({ success: true, id: channelId });
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
    expect(await api.post('/protect/attack-mode/set', { siteKey: site.siteKey, on: true, minutes: 5 })).toEqual(
      await api.post('/protect/attack-mode', { siteKey: site.siteKey }),
    );
    await api.post('/protect/client-jwt/revoke', { protectInstanceId: made.id, jti: issued.jti });
    expect((await api.post('/protect/origin-keys', { protectInstanceId: made.id })).keys).toHaveLength(10);
    const robots = await api.post('/protect/robots', { siteKey: site.siteKey, botPolicy: { preset: 'closed' } });
    expect([robots.origin, robots.behaviours[0]?.action]).toEqual([null, 'block']);
    const { edges } = await api.post('/protect/edges', { protectInstanceId: made.id });
    expect(edges).toEqual([]);
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

  test('changes policies one by one and as a whole, tries them, and rolls them back', async () => {
    const when = 'path startsWith "/api" and not cookie["sid"] exists';
    const policy = { name: 'api', when, then: { action: 'block' as const }, mode: 'monitor' as const };
    const checked = await api.post('/protect/policies/check', { when });
    expect(checked.text).toBe(when);
    await api.post('/protect/policies/set', { policies: [policy], note: 'first' });
    await api.post('/protect/policies/add', { policy: { ...policy, name: 'last' } });
    await api.post('/protect/policies/update', { name: 'api', policy: { ...policy, when: checked.when ?? when } });
    await api.post('/protect/policies/move', { name: 'last', before: 'api' });
    const { version } = await api.post('/protect/policies/remove', { name: 'last' });
    const { policies } = await api.post('/protect/policies', {});
    expect(policies.map((one) => one.text)).toEqual([when]);
    const tested = await api.post('/protect/policies/test', { request: { url: 'https://shop.example/api' } });
    expect(tested.policies.map((one) => one.applies)).toEqual(['yes']);
    await api.post('/protect/policies/preview', { policies: [] });
    const limited = await api.post('/protect/limits/preview', { limits: [] });
    expect([limited.refused, limited.effects]).toEqual([0, []]);
    const content = 'http.host eq "shop.example"';
    const imported = await api.post('/protect/policies/import', { format: 'cloudflare', content });
    expect([imported.taken, imported.dryRun]).toEqual([1, true]);
    const { versions } = await api.post('/protect/policies/history', {});
    expect(versions.at(-1)?.note).toBe('first');
    await api.post('/protect/policies/diff', { from: 1, to: version });
    await api.post('/protect/policies/rollback', { version: 0 });
  });

  test('adds a bot to the catalogue, finds it, and removes it', async () => {
    const bot = { id: 'ourbot', behaviours: ['monitor' as const], patterns: ['OurBot/'], networks: ['20.9.9.0/24'] };
    const added = await api.post('/protect/bots/own/add', bot);
    expect((await api.post('/protect/bots/own')).bots).toEqual([added]);
    const { bots } = await api.post('/protect/bots', { search: 'OurBot', isOwn: true });
    expect(bots).toEqual([await api.post('/protect/bots/get', { id: 'ourbot' })]);
    expect((await api.post('/protect/bots/lists')).lists.map(({ url }) => url)).toContain(
      'https://openai.com/gptbot.json',
    );
    expect(await api.post('/protect/bots/own/remove', { id: 'ourbot' })).toEqual({ success: true, id: 'ourbot' });
  });

  test('queries the verdict log in every way', async () => {
    const { edgeUrl } = stackOf();
    await browse(`${edgeUrl}/echo/x`);
    const since = stackNow() - 60_000;
    const { verdicts } = await eventually(
      () => api.post('/protect/verdicts', { limit: 1 }),
      (answer) => answer.verdicts.length > 0,
    );
    const requestId = verdicts[0]!.request_id;
    expect((await api.post('/protect/verdicts/explain', { requestId })).verdict.request_id).toBe(requestId);
    const short = `${requestId.slice(4, 8)}-${requestId.slice(-4)}`;
    const found = await api.post('/protect/verdicts/find', { reference: short });
    expect(found.verdicts.map((verdict) => verdict.request_id)).toContain(requestId);
    await api.post('/protect/verdicts/search', { ip: '127.0.0.1' });
    await api.post('/protect/verdicts/distinct-sources', { since });
    await api.post('/protect/verdicts/distinct-fired-rules', { since });
    await api.post('/protect/traffic-summary', { since });
    await api.post('/protect/traffic-by-dimension', { groupBy: 'decision' });
    expect((await api.post('/protect/origin-latency', {})).bucketSeconds).toBe(3600);
    expect((await api.post('/protect/bots/traffic', {})).total).toBeGreaterThan(0);
    await api.post('/protect/session-telemetry', { jti: 'unknown' });
    await api.post('/protect/risk-history', { jti: 'unknown' });
    await api.post('/protect/verdicts/export', {});
    await api.post('/protect/sessions/erase', { jti: 'unknown' });
    expect((await api.post('/protect/log/rebuild', {})).nextCursor).toBeNull();
    expect(await api.get('/protect/metrics')).toContain('gatehouse_');
  });

  test('reads traffic and captcha records', async () => {
    const { siteKey } = stackOf();
    const ignored = { token: 'ignored', accountId: 'ignored' };
    expect(await api.post('/gettrafficdata', { ...ignored, month: 2, year: 2026 })).toHaveLength(28);
    expect((await api.post('/getlivesessions', { ...ignored, siteKey })).windowMinutes).toBe(60);
    expect((await api.post('/audit/searchcaptcharecords', { siteKey, captchaType: 'pow' })).limit).toBe(20);
  });

  test('solves a challenge and verifies its token', async () => {
    const { siteKey, secretKey, serviceUrl } = stackOf();
    await api.post('/sites/update', { siteKey, settings: { captchaType: 'pow', powDifficulty: 1 } });
    const asked = { siteKey, currentUrl: `${serviceUrl}/`, capabilities: { script: true } };
    const { challenge, pow } = await eventually(
      () => api.post('/captcha/v1/challenge', asked),
      ({ kind }) => kind === 'pow',
    );
    const solution = { y: await solveRsw({ n: pow?.n ?? '', x: pow?.x ?? '', t: pow?.t ?? 0 }) };
    const { token = '' } = await api.post('/captcha/v1/solution', { challenge, solution });
    expect(await api.post('/siteverify', { secret: secretKey, token, ip: null })).toMatchObject({ verified: true });
    for (const path of ['/turnstile/v0/siteverify', '/hcaptcha/siteverify', '/recaptcha/api/siteverify'] as const) {
      expect(await api.post(path, { secret: secretKey, response: token })).toMatchObject({ success: false });
    }
    const again = await api.post('/captcha/v1/challenge', asked);
    const solved = await solveRsw({ n: again.pow?.n ?? '', x: again.pow?.x ?? '', t: again.pow?.t ?? 0 });
    const second = await api.post('/captcha/v1/solution', { challenge: again.challenge, solution: { y: solved } });
    expect(
      await api.post('/turnstile/v0/siteverify', { secret: secretKey, response: second.token ?? '' }),
    ).toMatchObject({ success: true, 'error-codes': [], hostname: new URL(serviceUrl).hostname });
  });

  test('follows the log, and counts the hits of a rule', async () => {
    expect((await api.post('/protect/verdicts/tail', {})).verdicts).toBeInstanceOf(Array);
    expect((await api.post('/protect/sessions', {})).sessions).toBeInstanceOf(Array);
    expect(await api.post('/protect/access-rules/hits', { type: 'asn', value: 64497 })).toMatchObject({ total: 0 });
  });

  test('opens the page for visitors without scripts, and presses its button', async () => {
    const { edgeUrl } = stackOf();
    const { siteKey } = await api.post('/sites/create', {
      name: 'patient',
      settings: { domains: ['127.0.0.1'], captchaType: 'pow', minimumLevel: 0 },
    });
    const browser = { ...navigation, 'sec-fetch-dest': 'iframe', referer: `${edgeUrl}/` };
    const page = await ask('get', `/captcha/v1/wait?sitekey=${siteKey}`, undefined, browser);
    const challenge = /name="challenge" value="([^"]+)"/.exec(String(page.body))?.[1] ?? '';
    const form = { ...browser, 'content-type': 'application/x-www-form-urlencoded' };
    const pressed = await ask('post', '/captcha/v1/wait', new URLSearchParams({ challenge }).toString(), form);
    expect([page.status, pressed.status, challenge === '']).toEqual([200, 200, false]);
    const without = await ask('post', '/captcha/v1/wait', 'challenge=x', form);
    expect([without.status, without.body]).toEqual([400, expect.stringContaining('<html')]);
  });

  test('is refused with declared statuses by the public operations', async () => {
    const { siteKey, serviceUrl } = stackOf();
    const currentUrl = `${serviceUrl}/`;
    const visitor = { ip: null, userAgent: '', asn: null, country: null, ja4: null, ipCategories: [], requestId: 'r' };
    const edge = { visitor: { ...visitor, host: 'shop.example' } };
    const verifying = { secret: 'unknown', token: 'x' };
    for (const [path, body, headers, status] of [
      ['/siteverify', {}, {}, 400],
      ['/siteverify', verifying, {}, 401],
      ['/siteverify', { ...verifying, token: 'x'.repeat(1_100_000) }, {}, 413],
      ['/siteverify', 'x', { 'content-type': 'text/plain' }, 415],
      ['/captcha/v1/challenge', { siteKey: 'unknown' }, {}, 400],
      ['/captcha/v1/challenge', { siteKey, ...edge }, {}, 401],
      ['/captcha/v1/challenge', { siteKey, currentUrl: 'x'.repeat(40_000) }, {}, 413],
      ['/captcha/v1/challenge', 'x', { 'content-type': 'text/plain' }, 415],
      ['/captcha/v1/solution', { challenge: 'x', solution: {} }, {}, 400],
      ['/captcha/v1/solution', { challenge: 'x', solution: {}, ...edge }, {}, 401],
      ['/captcha/v1/solution', 'x', { 'content-type': 'text/plain' }, 415],
    ] as const) {
      expect([path, (await ask('post', path, body, headers)).status]).toEqual([path, status]);
    }
    const conditions = [{ field: 'userAgent' as const, operator: 'equals', value: 'Refused/1.0' }];
    await api.post('/access-control/create', { rule: { type: 'block', conditions } });
    await eventually(
      () => ask('post', '/captcha/v1/challenge', { siteKey, currentUrl }, { 'user-agent': 'Refused/1.0' }),
      ({ status }) => status === 403,
    );
  });

  test('has called every operation of the document', () => {
    expect([...called].toSorted()).toEqual(operations.toSorted());
  });
});
