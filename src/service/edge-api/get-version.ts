/**
 * `GET /edge/v1/version` (design 4): what edges poll. Small, and 304 while nothing changed, so that
 * asking every few seconds from every colo costs next to nothing.
 */
import { ruleBook } from '../../store/rule-book/client.ts';
import type { EdgeVersion } from '../../contract/edge/edge-api.ts';
import { jsonResponse } from '../http/respond-error.ts';
import { configVersionFor } from './edge-config.ts';
import type { EdgeRoute } from './edge-route.ts';

export const getVersion: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/version',
  async handler({ store, instance, request, nowMs }) {
    const [configVersion, rules] = await Promise.all([
      configVersionFor(store, instance, nowMs),
      ruleBook(store, instance.id).currentVersion(),
    ]);
    const version: EdgeVersion = {
      configVersion,
      base: { hash: rules.base.hash, version: rules.base.version },
      delta: { version: rules.delta.version },
    };
    const etag = `"${version.configVersion}.${version.base.hash}.${version.delta.version}"`;
    const known = request.headers.get('if-none-match') ?? '';
    if (known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
      return new Response(null, { status: 304, headers: { etag, 'cache-control': 'no-store' } });
    }
    return jsonResponse(version, 200, { etag });
  },
};
