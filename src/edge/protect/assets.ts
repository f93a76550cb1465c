/**
 * The browser scripts, first-party. What a challenge needs during an outage the edge carries itself;
 * the rest comes from the service on demand. Asked for by content hash they never change and may be
 * kept for ever.
 */
import { edgeAssets } from '../../widget/bundle.generated.ts';
import { jsonError } from '../respond.ts';
import type { ProtectCall } from './routes.ts';

const YEAR_SECONDS = 31_536_000;
const ASSET_TIMEOUT_MS = 5000;
/** What the service may be asked for: a visitor must not choose its paths. */
const SERVICE_ASSETS: ReadonlySet<string> = new Set(['widget.js', 'languages.js', 'visual.js']);

export async function serveAsset({ passage, edge }: ProtectCall, name: string): Promise<Response> {
  const { request } = passage;
  const { query } = passage.target!;
  const carried = Object.hasOwn(edgeAssets, name) ? edgeAssets[name] : undefined;
  if (carried) {
    const etag = `"${carried.hash}"`;
    const headers = { ...headersFor(passage, query === `?v=${carried.hash}`), etag };
    if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers });
    return new Response(request.method === 'HEAD' ? null : carried.body, { headers });
  }
  if (!SERVICE_ASSETS.has(name) || edge.environment.rules.kind !== 'service') {
    return jsonError(passage, 'API.NOT_FOUND', 'There is no such script.');
  }
  try {
    const version = /^\?v=[0-9a-f]{1,64}$/.test(query) ? query : '';
    const answer = await edge.service.call(`/${name}${version}`, ASSET_TIMEOUT_MS);
    if (answer.status === 200) {
      const isNamedByHash = version !== '' && (answer.headers.get('cache-control') ?? '').includes('immutable');
      return new Response(answer.body, { headers: headersFor(passage, isNamedByHash) });
    }
    await answer.body?.cancel();
  } catch {
    // Told below: the script cannot be had now.
  }
  return jsonError(passage, 'API.UNAVAILABLE', 'The service does not answer.');
}

function headersFor(passage: ProtectCall['passage'], isNamedByHash: boolean): Record<string, string> {
  return {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': isNamedByHash ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'x-protect-request-id': passage.requestId,
    'x-protect-decision': passage.verdict?.decision ?? 'allow',
  };
}
