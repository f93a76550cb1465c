/** Sites, classic access rules, people, keys, alerts and traffic of an account. */
import { eventually } from '../eventually.ts';
import type { Guide } from './guide.ts';

export async function tourOfAccount({ api, stack }: Guide): Promise<void> {
  const { siteKey } = await api.post('/sites/create', {
    name: 'Newsletter',
    settings: { domains: ['news.shop.example'], captchaType: 'pow' },
  });
  await api.post('/sites/update', { siteKey, settings: { powDifficulty: 5 } });
  await api.post('/site/get', { siteKey });
  await api.post('/sites/get');
  await api.post('/sites/delete', { siteKey });
  await api.post('/sites/activate', { siteKey });

  const scrapers = {
    type: 'restrict' as const,
    conditions: [{ field: 'asn' as const, operator: 'equals', value: 64496 }],
    captchaType: 'pow' as const,
    ruleGroupId: 'scrapers',
  };
  await api.post('/access-control/create', { rule: scrapers });
  const [rule] = (await api.post('/access-control/get', { ruleGroupId: 'scrapers' })).rules;
  await api.post('/access-control/delete', { userScopeHash: rule!.userScopeHash });
  await api.post('/access-control/create', { rule: scrapers });
  const { jobId } = await api.post('/access-control/group/delete', { ruleGroupId: 'scrapers' });
  await eventually(
    () => api.post('/access-control/group/job', { jobId }),
    ({ status }) => status === 'finished',
  );

  await api.post('/users/create', { email: 'ann@shop.example', name: 'Ann', role: 'viewer' });
  await api.put('/users/update', { email: 'ann@shop.example', userType: 'admin' });
  await api.get('/users/get');
  await api.post('/users/delete', { email: 'ann@shop.example' });

  const key = await api.post('/api-keys/create', {
    name: 'Dashboard',
    permissions: { Traffic: ['getTraffic'] },
    expiresIn: 7_776_000,
  });
  await api.post('/api-keys/get');
  await api.post('/api-keys/delete', { apiKeyId: key.apiKeyId });
  await api.post('/audit-trail/get', { limit: 2 });

  const { channel } = await api.post('/alerts/channels/create', {
    name: 'On call',
    shape: 'webhook',
    webhookUrl: 'https://receiver.internal/alerts',
    quietHours: { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin' },
  });
  const channelId = channel.id;
  await api.post('/alerts/channels/update', { channelId, kinds: ['origin-failing'] });
  await api.post('/alerts/channels');
  await api.post('/alerts/channels/test', { channelId });
  await api.post('/alerts/list', { kind: 'test' });
  await api.post('/alerts/channels/rotate-secret', { channelId });
  await api.post('/alerts/channels/delete', { channelId });

  // Two fields that these calls require and ignore.
  const ignored = { token: 'ignored', accountId: 'ignored' };
  await api.post('/gettrafficdata', { ...ignored, startDate: '2026-02-01', endDate: '2026-02-02' });
  await api.post('/getlivesessions', { ...ignored, siteKey: stack.siteKey });
  // A record is written after the response that it is about.
  await eventually(
    () => api.post('/audit/searchcaptcharecords', { captchaType: 'pow' }),
    ({ records }) => records.length > 0,
  );
}
