/**
 * A ruleset file as an answer. Its address holds the hash of its content (a delta's: of its base, and its
 * version), so it can be kept for ever, but only by the edge that asked: it is an account's rule set.
 */
import { RULESET_MEDIA_TYPE } from '../../contract/edge/edge-api.ts';
import { errorEnvelope } from '../../contract/errors.ts';
import { jsonResponse } from '../http/respond-error.ts';

export const rulesetHashPattern = /^[0-9a-f]{64}$/;

export function rulesetResponse(body: BodyInit, etag: string): Response {
  return new Response(body, {
    headers: {
      'content-type': RULESET_MEDIA_TYPE,
      'cache-control': 'private, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      etag: `"${etag}"`,
    },
  });
}

export function unknownRuleset(): Response {
  return jsonResponse(errorEnvelope('API.NOT_FOUND', 'This instance has no such ruleset'), 404);
}
