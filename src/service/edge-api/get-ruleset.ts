/**
 * `GET /edge/v1/rulesets/{hash}` (design 4): a base, streamed from R2. The key holds the caller's own
 * instance, so the hash of somebody else's ruleset finds nothing.
 */
import { rulesetKey } from '../../store/rule-book/ruleset-objects.ts';
import { rulesetHashPattern, rulesetResponse, unknownRuleset } from './ruleset-response.ts';
import type { EdgeRoute } from './edge-route.ts';

export const getRuleset: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/rulesets/:hash',
  async handler({ store, instance }, { hash }) {
    if (hash === undefined || !rulesetHashPattern.test(hash)) return unknownRuleset();
    const file = await store.RULESETS.get(rulesetKey(instance.id, hash));
    return file ? rulesetResponse(file.body, hash) : unknownRuleset();
  },
};
