/**
 * `POST /edge/v1/rulesets/{hash}/refused`: an edge could not load the base that the service sent it. The rule book then
 * compares the stored file with its hash. The edge learns of a new base at its next poll.
 */
import type { EdgeCall, EdgeRoute } from './edge-route.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import { errorResponse } from '../http/respond-error.ts';
import { rulesetHashPattern } from './ruleset-response.ts';

export const refuseRuleset: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/rulesets/:hash/refused',
  async handler(call, { hash = '' }) {
    if (!rulesetHashPattern.test(hash)) return errorResponse({ kind: 'ruleset-unknown' });
    checkBase(call);
    return new Response(null, { status: 202 });
  },
};

/** Behind the response: a compile takes seconds. */
export function checkBase({ store, instance, waitUntil }: EdgeCall): void {
  const checked = ruleBook(store, instance.id).checkBase('refused');
  waitUntil(
    checked.catch((error: unknown) => {
      console.error(JSON.stringify({ level: 'error', event: 'base-not-checked', message: String(error) }));
    }),
  );
}
