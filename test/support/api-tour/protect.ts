/** Instances, their credentials and their attack mode, and bots. */
import type { Guide } from './guide.ts';

export async function tourOfProtect({ api, stack }: Guide): Promise<void> {
  const site = await api.post('/sites/create', { name: 'Blog', settings: { domains: ['blog.shop.example'] } });
  const { siteKey } = site;
  const { id } = await api.post('/protect/instances/create', {
    name: 'Blog',
    cname: 'blog.shop.example',
    globalSiteKey: siteKey,
  });
  await api.post('/protect/instances/update', { id, monitor: false, rollout: 10 });
  await api.post('/protect/instances');
  const { jti } = await api.post('/protect/client-jwt/generate', { protectInstanceId: id, expiresInWeeks: 52 });
  await api.post('/protect/client-jwt/list', { protectInstanceId: id });
  await api.post('/protect/client-jwt/revoke', { protectInstanceId: id, jti });
  await api.post('/protect/attack-mode/set', { siteKey, on: true, minutes: 60 });
  await api.post('/protect/attack-mode', { siteKey });
  await api.post('/protect/edges', { protectInstanceId: stack.instanceId });
  await api.post('/protect/origin-keys', { protectInstanceId: id });
  await api.post('/protect/robots', { siteKey, botPolicy: { preset: 'closed' } });
  await api.post('/protect/instances/delete', { id });

  await api.post('/protect/bots/own/add', {
    id: 'price-checker',
    behaviours: ['monitor'],
    patterns: ['PriceChecker/'],
    networks: ['198.41.128.0/24'],
  });
  await api.post('/protect/bots/own');
  await api.post('/protect/bots', { search: 'PriceChecker' });
  await api.post('/protect/bots/get', { id: 'price-checker' });
  await api.post('/protect/bots/lists');
  await api.post('/protect/bots/own/remove', { id: 'price-checker' });

  const exits = { name: 'tor-exits', url: 'https://lists.internal/tor.txt' };
  await api.post('/protect/lists/create', exits);
  await api.post('/protect/lists/refresh', { name: 'tor-exits' });
  const content = 'ip\n198.41.128.7\n198.41.129.0/24\n';
  await api.post('/protect/lists/create', { name: 'fraud', format: 'csv', column: 'ip' });
  await api.post('/protect/lists/preview', { name: 'fraud', content });
  await api.post('/protect/lists/replace', { name: 'fraud', content });
  await api.post('/protect/lists/update', { name: 'fraud', mode: 'enforce' });
  await api.post('/protect/lists');
  await api.post('/protect/lists/delete', { name: 'tor-exits' });
}
