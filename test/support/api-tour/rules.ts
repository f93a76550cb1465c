/** Edge access rules, policies and limits. */
import type { Guide } from './guide.ts';

export async function tourOfRules({ api }: Guide): Promise<void> {
  const rule = { type: 'ip' as const, value: '192.0.2.1', verdict: 'block' as const };
  await api.post('/protect/access-rules/preview', { rules: [rule] });
  const { version } = await api.post('/protect/access-rules/create', { rules: [rule] });
  await api.post('/protect/access-rules', { type: 'ip' });
  await api.post('/protect/access-rules/explain', { ip: '192.0.2.1' });
  await api.post('/protect/access-rules/hits', { type: 'ip', value: '192.0.2.1' });
  await api.post('/protect/access-rules/import', { content: '198.51.100.7\n', verdict: 'challenge' });
  await api.post('/protect/access-rules/export', { type: 'ip' });
  await api.post('/protect/access-rules/history');
  await api.post('/protect/access-rules/rollback', { version });
  await api.post('/protect/access-rules/delete', { conditions: [{ type: 'ip', value: '192.0.2.1' }] });

  const when = 'path startsWith "/login" and not cookie["sid"] exists';
  const policy = { name: 'login', when, then: { action: 'challenge' as const }, mode: 'monitor' as const };
  const office = { name: 'office', when: 'ip ipIn ["192.0.2.0/24"]', then: { action: 'allow' as const } };
  await api.post('/protect/policies/check', { when });
  await api.post('/protect/policies/set', { policies: [policy], note: 'Watch logins' });
  await api.post('/protect/policies/add', { policy: office });
  await api.post('/protect/policies/move', { name: 'office', before: 'login' });
  await api.post('/protect/policies/update', { name: 'login', policy: { ...policy, mode: 'enforce' } });
  await api.post('/protect/policies', {});
  const removed = await api.post('/protect/policies/remove', { name: 'office' });
  await api.post('/protect/policies/test', { request: { url: 'https://www.shop.example/login' } });
  await api.post('/protect/policies/preview', { policies: [policy] });
  await api.post('/protect/policies/import', { format: 'cloudflare', content: 'http.host eq "shop.example"' });
  await api.post('/protect/policies/history', {});
  await api.post('/protect/policies/diff', { from: 1, to: removed.version });
  await api.post('/protect/policies/rollback', { version: 0 });
  const limits = [{ name: 'login', key: ['ip' as const], count: 10, windowSeconds: 60 }];
  await api.post('/protect/limits/preview', { limits });
}
