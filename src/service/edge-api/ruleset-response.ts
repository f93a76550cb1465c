/**
 * A ruleset file as a response. The address of a base names the hash of its content, and the address of a delta the
 * hash of its base and its version. So the file can be kept for a year, but only by the edge that asked for it: the
 * rules belong to one account.
 */
import { RULESET_MEDIA_TYPE } from '../../contract/edge/edge-api.ts';

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
