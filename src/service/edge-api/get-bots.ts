/**
 * `GET /edge/v1/bots/{hash}`: the bot table that `/edge/v1/version` names, streamed from R2. The object's key includes the
 * caller's account, so the hash of another account's table finds nothing.
 */
import { COMMON_SCOPE, botTableKey } from '../../store/d1/bot-tables.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';
import { rulesetHashPattern, rulesetResponse } from './ruleset-response.ts';

export const getBots: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/bots/:hash',
  async handler({ store, instance }, { hash = '' }) {
    if (!rulesetHashPattern.test(hash)) return errorResponse({ kind: 'ruleset-unknown' });
    const { RULESETS } = store;
    const own = await RULESETS.get(botTableKey(instance.accountId, hash));
    const file = own ?? (await RULESETS.get(botTableKey(COMMON_SCOPE, hash)));
    return file ? rulesetResponse(file.body, hash) : errorResponse({ kind: 'ruleset-unknown' });
  },
};
