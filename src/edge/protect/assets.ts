/** The browser scripts, first-party. Asked for by content hash they never change and may be kept for ever. */
import { clientAssets } from '../../widget/bundle.generated.ts';
import { jsonError } from '../respond.ts';
import type { ProtectCall } from './routes.ts';

const YEAR_SECONDS = 31_536_000;

export function serveAsset({ passage }: ProtectCall, name: string): Response {
  const asset = Object.hasOwn(clientAssets, name) ? clientAssets[name] : undefined;
  if (!asset) return jsonError(passage, 'API.NOT_FOUND', 'There is no such script.');
  const { request, target } = passage;
  const etag = `"${asset.hash}"`;
  const isNamedByHash = target!.query === `?v=${asset.hash}`;
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': isNamedByHash ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    etag,
    'x-protect-request-id': passage.requestId,
    'x-protect-decision': passage.verdict?.decision ?? 'allow',
  };
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers });
  return new Response(request.method === 'HEAD' ? null : asset.body, { headers });
}
