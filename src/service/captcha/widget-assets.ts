/**
 * The browser files, served from this Worker so that a page needs no third host: by content hash for
 * ever when the address names the hash it has, else revalidated by ETag.
 */
import { clientAssets } from '../../widget/bundle.generated.ts';

/**
 * Files a page of another origin may load; the protect script and the page texts are for edges, which
 * hand them on. The interstitial's script belongs to the edge that carries it.
 */
export const publicAssets = [
  'widget.js',
  'pow-worker.js',
  'visual.js',
  'languages.js',
  'protect.js',
  'page-texts.json',
  'frame.js',
  'frame.html',
] as const;

const SCRIPT = { 'content-type': 'text/javascript; charset=utf-8' } as const;
const DATA = { 'content-type': 'application/json' } as const;
/** The frame lends its origin to a worker and does nothing else, whoever embeds it. */
const PAGE = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
} as const;

export function widgetAsset(request: Request, name: string): Response | null {
  const asset = clientAssets[name];
  if (asset === undefined) return null;
  const etag = `"${asset.hash}"`;
  const named = new URL(request.url).searchParams.get('v') === asset.hash;
  const headers = {
    ...headersOf(name),
    'cache-control': named ? 'public, max-age=31536000, immutable' : 'public, max-age=300, must-revalidate',
    etag,
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  };
  const known = (request.headers.get('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes(etag)) return new Response(null, { status: 304, headers });
  return new Response(request.method === 'HEAD' ? null : asset.body, { headers });
}

function headersOf(name: string): Readonly<Record<string, string>> {
  if (name.endsWith('.html')) return PAGE;
  return name.endsWith('.json') ? DATA : SCRIPT;
}
