/** `GET /edge/v1/config`: the policy, the site and the keys of the instance, revalidated by their version. */
import { revalidatedJson } from '../http/if-none-match.ts';
import { edgeConfigFor } from './edge-config.ts';
import type { EdgeRoute } from './edge-route.ts';
import { noteEdge } from './note-edge.ts';

export const getConfig: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/config',
  async handler(call) {
    const { store, instance, request, nowMs } = call;
    const config = await edgeConfigFor(store, instance, nowMs);
    noteEdge(call, { configVersion: config.configVersion });
    return revalidatedJson(request, `"${config.configVersion}"`, config);
  },
};
