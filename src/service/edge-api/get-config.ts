/**
 * `GET /edge/v1/config`: the policy, the site and the keys of the instance, in the newest format that the edge reads. The
 * edge revalidates them by their version.
 */
import { READS_PARAMETER, configFormats, formatsFor } from '../../contract/edge/formats.ts';
import { revalidatedJson } from '../http/if-none-match.ts';
import { edgeConfigFor } from './edge-config.ts';
import type { EdgeRoute } from './edge-route.ts';
import { noteEdge } from './note-edge.ts';

export const getConfig: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/config',
  async handler(call) {
    const { store, instance, request, nowMs } = call;
    const [format] = formatsFor(configFormats, new URL(request.url).searchParams.get(READS_PARAMETER));
    const config = await edgeConfigFor(store, instance, nowMs, format);
    noteEdge(call, { configVersion: config.configVersion });
    return revalidatedJson(request, `"${config.configVersion}"`, config);
  },
};
