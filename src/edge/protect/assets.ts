/**
 * The browser scripts, first-party. What a challenge needs during an outage this Worker carries; the
 * rest it has from the service, checked against the hash it was built with. Asked for by that hash
 * they never change and may be kept for ever. A file of this release that is nowhere to be had is a
 * 404 that nobody stores: the page works without it, and a later visit has it.
 */
import { assetHashes } from '../../widget/bundle.generated.ts';
import { jsonError } from '../answer/respond.ts';
import type { ProtectCall } from './routes.ts';

const YEAR_SECONDS = 31_536_000;

export async function serveAsset({ passage, edge }: ProtectCall, name: string): Promise<Response> {
  const { request } = passage;
  const carried = edge.files.embedded(name);
  const body = carried?.body ?? (await edge.files.read(name));
  if (body === 'unreachable') return jsonError(passage, 'API.UNAVAILABLE', 'The service does not answer.');
  if (body === 'absent') return jsonError(passage, 'API.NOT_FOUND', 'There is no such script.');
  const hash = assetHashes[name]!;
  const etag = `"${hash}"`;
  const isNamedByHash = passage.target!.query === `?v=${hash}`;
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': isNamedByHash ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    etag,
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'x-protect-request-id': passage.requestId,
    'x-protect-decision': passage.verdict?.decision ?? 'allow',
  };
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers });
  return new Response(request.method === 'HEAD' ? null : body, { headers });
}
