/**
 * `GET /edge/v1/rulesets/{hash}`: a base, streamed from R2. The object's key includes the caller's instance, so the
 * hash of another instance's ruleset finds nothing.
 */
import { rulesetKey } from '../../store/rule-book/ruleset-objects.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';
import { noteEdge } from './note-edge.ts';
import { checkBase } from './refuse-ruleset.ts';
import { rulesetHashPattern, rulesetResponse } from './ruleset-response.ts';

export const getRuleset: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/rulesets/:hash',
  async handler(call, { hash = '' }) {
    const { store, instance } = call;
    if (!rulesetHashPattern.test(hash)) return errorResponse({ kind: 'ruleset-unknown' });
    const file = await store.RULESETS.get(rulesetKey(instance.id, hash));
    if (!file) {
      checkBase(call);
      return errorResponse({ kind: 'ruleset-unknown' });
    }
    noteEdge(call, { baseHash: hash });
    return rulesetResponse(file.body, hash);
  },
};
