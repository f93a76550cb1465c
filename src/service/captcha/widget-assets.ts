/**
 * The browser files. This Worker serves them itself, so that a page needs no third host. A file whose address has its
 * content hash is cached for a year; otherwise it is revalidated by its entity tag.
 */
import { clientAssets } from '../../widget/bundle.generated.ts';
import { hasEntity } from '../http/json-response.ts';

/**
 * Files that a page of another origin may load. Edges load the protect script and the page texts and serve them from
 * their own host. The script of the interstitial is not here: the edge has it in its own bundle.
 */
export const publicAssets = [
  'widget.js',
  'pow-worker.js',
  'dialog.js',
  'visual.js',
  'languages.js',
  'protect.js',
  'environment.js',
  'page-texts.json',
  'frame.js',
  'frame.html',
] as const;

/**
 * Scripts with the APIs of other products, under the paths of the originals. Some wrappers build the path themselves
 * from the address of a host, so it is the same below the product's name. See docs/compatibility.md.
 */
export const compatAssets = {
  '/turnstile/v0/api.js': 'compat/turnstile.js',
  '/hcaptcha/1/api.js': 'compat/hcaptcha.js',
  '/hcaptcha/1/secure-api.js': 'compat/hcaptcha.js',
  '/recaptcha/api.js': 'compat/recaptcha.js',
  '/recaptcha/enterprise.js': 'compat/recaptcha.js',
  '/procaptcha/js/procaptcha.bundle.js': 'compat/procaptcha.js',
  '/procaptcha/js/procaptcha.bundle.iife.js': 'compat/procaptcha.js',
} as const;

/**
 * The original's script is a module and works as a classic script too, which no file with exports can. So an address has
 * both: browsers ask for modules in the mode `cors`, and for classic scripts without `crossorigin` in another one.
 */
export const moduleAssets: Readonly<Record<string, string>> = {
  '/procaptcha/js/procaptcha.bundle.js': 'compat/procaptcha-module.js',
};

const SCRIPT = { 'content-type': 'text/javascript; charset=utf-8' } as const;
const DATA = { 'content-type': 'application/json' } as const;
/** The frame lends its origin to a worker and does nothing else, so any page may embed it. */
const PAGE = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
} as const;

export function widgetAsset(request: Request, name: string): Response | null {
  const { pathname, searchParams } = new URL(request.url);
  const module = moduleAssets[pathname];
  const asset = clientAssets[module !== undefined && request.headers.get('sec-fetch-mode') === 'cors' ? module : name];
  if (asset === undefined) return null;
  const etag = `"${asset.hash}"`;
  const isNamedByHash = searchParams.get('v') === asset.hash;
  const headers = {
    ...headersOf(name),
    'cache-control': isNamedByHash ? 'public, max-age=31536000, immutable' : 'public, max-age=300, must-revalidate',
    etag,
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
    ...(module === undefined ? {} : { vary: 'Sec-Fetch-Mode' }),
  };
  if (hasEntity(request, etag)) return new Response(null, { status: 304, headers });
  return new Response(request.method === 'HEAD' ? null : asset.body, { headers });
}

function headersOf(name: string): Readonly<Record<string, string>> {
  if (name.endsWith('.html')) return PAGE;
  return name.endsWith('.json') ? DATA : SCRIPT;
}
