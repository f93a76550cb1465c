/** The verdict log, sessions, sums of traffic and the metrics. */
import { browse, FIREFOX } from '../browse.ts';
import { sessionCookieAt } from '../edge-session.ts';
import { eventually } from '../eventually.ts';
import type { Guide } from './guide.ts';
import { stackNow } from '../clock.ts';

export async function tourOfLog({ api, stack }: Guide): Promise<void> {
  const since = stackNow() - 3_600_000;
  const cookie = await sessionCookieAt(stack.edgeUrl, { 'user-agent': FIREFOX });
  await (await browse(`${stack.edgeUrl}/echo/welcome`, { headers: { cookie } })).text();
  const found = await eventually(
    () => api.post('/protect/verdicts/search', { ip: '127.0.0.1', limit: 1 }),
    // The request that opened the session has a record too, which is of another kind.
    ({ verdicts }) => verdicts.some(({ request_path: path }) => path === '/echo/welcome'),
  );
  const { request_id: requestId, jti } = found.verdicts[0]!;
  await api.post('/protect/verdicts', { decision: ['allow'], limit: 1 });
  await api.post('/protect/verdicts/explain', { requestId });
  await api.post('/protect/verdicts/find', { reference: `${requestId.slice(4, 8)}-${requestId.slice(-4)}` });
  await api.post('/protect/verdicts/tail', { limit: 1 });
  await api.post('/protect/verdicts/distinct-sources', { since });
  await api.post('/protect/verdicts/distinct-fired-rules', { since });
  await api.post('/protect/verdicts/export', { requestId });
  await api.post('/protect/traffic-summary', { since });
  await api.post('/protect/traffic-by-dimension', { groupBy: 'decision', since, topN: 3 });
  await api.post('/protect/origin-latency', { since });
  await api.post('/protect/bots/traffic', { since });
  await api.post('/protect/sessions', { limit: 1 });
  await api.post('/protect/session-telemetry', { jti: jti! });
  await api.post('/protect/risk-history', { jti: jti! });
  await api.post('/protect/sessions/erase', { jti: jti! });
  await api.post('/protect/log/rebuild', {});
  await api.get('/protect/metrics');
}
