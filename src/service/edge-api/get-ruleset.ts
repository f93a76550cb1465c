/**
 * `GET /edge/v1/rulesets/{hash}`: a base, streamed from R2. The object's key includes the caller's instance, so the
 * hash of another instance's ruleset finds nothing.
 */
import { rulesetKey } from '../../store/rule-book/ruleset-objects.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';
import { rulesetHashPattern, rulesetResponse } from './ruleset-response.ts';

export const getRuleset: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/rulesets/:hash',
  async handler({ store, instance }, { hash = '' }) {
    if (!rulesetHashPattern.test(hash)) return errorResponse({ kind: 'ruleset-unknown' });
    const file = await store.RULESETS.get(rulesetKey(instance.id, hash));
    return file ? rulesetResponse(file.body, hash) : errorResponse({ kind: 'ruleset-unknown' });
  },
};
