/**
 * `GET /edge/v1/rulesets/{hash}/delta/{version}`: the signed changes from a base up to a version. A base that is no
 * longer served, or a version that does not exist, is 404: the edge then asks for the version again.
 */
import { ruleBook } from '../../store/rule-book/client.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';
import { rulesetHashPattern, rulesetResponse } from './ruleset-response.ts';

const versionPattern = /^(0|[1-9]\d{0,14})$/;

export const getDelta: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/rulesets/:hash/delta/:version',
  async handler({ store, instance, clientJwtId, nowMs }, { hash = '', version = '' }) {
    if (!rulesetHashPattern.test(hash) || !versionPattern.test(version)) {
      return errorResponse({ kind: 'ruleset-unknown' });
    }
    const file = await ruleBook(store, instance.id).delta(hash, Number(version), { jti: clientJwtId, at: nowMs });
    return file
      ? rulesetResponse(file as Uint8Array<ArrayBuffer>, `${hash}.${version}`)
      : errorResponse({ kind: 'ruleset-unknown' });
  },
};
