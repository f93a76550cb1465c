/**
 * `GET /edge/v1/config` (design 4): the instance's policy, site and keys; `If-None-Match` with the
 * version the edge has answers 304.
 */
import { jsonResponse } from '../http/respond-error.ts';
import { edgeConfigFor } from './edge-config.ts';
import type { EdgeRoute } from './edge-route.ts';

export const getConfig: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/config',
  async handler({ store, instance, request, nowMs }) {
    const config = await edgeConfigFor(store, instance, nowMs);
    const etag = `"${config.configVersion}"`;
    const known = request.headers.get('if-none-match') ?? '';
    if (known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) {
      return new Response(null, { status: 304, headers: { etag, 'cache-control': 'no-store' } });
    }
    return jsonResponse(config, 200, { etag });
  },
};
