/**
 * `GET /edge/v1/rulesets/{hash}/delta/{n}` (design 4): the changes from a base up to version `n`, signed.
 * A base that is no longer served, or a version there is not, is 404: the edge asks for the version again.
 */
import { ruleBook } from '../../store/rule-book/client.ts';
import { rulesetHashPattern, rulesetResponse, unknownRuleset } from './ruleset-response.ts';
import type { EdgeRoute } from './edge-route.ts';

const versionPattern = /^(0|[1-9]\d{0,14})$/;

export const getDelta: EdgeRoute = {
  method: 'GET',
  path: '/edge/v1/rulesets/:hash/delta/:version',
  async handler({ store, instance }, { hash, version }) {
    if (hash === undefined || !rulesetHashPattern.test(hash)) return unknownRuleset();
    if (version === undefined || !versionPattern.test(version)) return unknownRuleset();
    const file = await ruleBook(store, instance.id).delta(hash, Number(version));
    return file ? rulesetResponse(file as Uint8Array<ArrayBuffer>, `${hash}.${version}`) : unknownRuleset();
  },
};
