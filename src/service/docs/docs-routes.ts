/**
 * `/docs`: the documentation, which `npm run build:docs` builds into static files. The Worker fetches them from its assets
 * binding and adds the headers. The scripts of these pages may reach the documentation and `/openapi.json`, and no other
 * path of the service, so that they cannot call the API with the session of a reader who is signed in to the console.
 */
import { type Context, Hono } from 'hono';
import type { ServiceApp, ServiceHonoEnv } from '../http/service-call.ts';

/** Names below it carry a hash of the content. */
const HASHED_FILES = '/docs/assets/';

const API_PAGE = '/docs/api';

const NOT_BUILT = `This deployment has no documentation.

Operators: run "npm run build:docs", then deploy again.
Readers: the same pages are in the folder docs/ of the source. The API is described by /openapi.json.
`;

export function docsRoutes(): ServiceApp {
  const routes: ServiceApp = new Hono<ServiceHonoEnv>();
  routes.get('/docs', () => new Response(null, { status: 307, headers: { location: '/docs/' } }));
  routes.get('/docs/*', file);
  return routes;
}

async function file(context: Context<ServiceHonoEnv>): Promise<Response> {
  const { assets } = context.get('environment');
  const url = new URL(context.req.url);
  if (assets === null) return notBuilt(url.origin);
  const known = context.req.header('if-none-match');
  const found = await assets.fetch(`${url.origin}${url.pathname}`, {
    method: context.req.method,
    headers: known === undefined ? {} : { 'if-none-match': known },
    redirect: 'manual',
  });
  // Without a page for missing files, there are no files at all.
  if (found.status === 404 && !found.headers.get('content-type')?.startsWith('text/html')) {
    if (!url.pathname.startsWith(HASHED_FILES)) return notBuilt(url.origin);
  }
  return new Response(found.body, { status: found.status, headers: headersOf(found, url) });
}

function headersOf(found: Response, { origin, pathname }: URL): Headers {
  const headers = new Headers(securityHeaders(origin, pathname));
  // Programs to copy, such as docs/snippets/verify.go, have no type of their own. A 304 leaves the type that is stored.
  if (found.status === 200) headers.set('content-type', 'text/plain; charset=utf-8');
  for (const name of ['content-type', 'etag', 'location']) {
    const value = found.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const isLasting = pathname.startsWith(HASHED_FILES) && (found.status === 200 || found.status === 304);
  headers.set('cache-control', isLasting ? 'public, max-age=31536000, immutable' : 'no-cache');
  return headers;
}

function notBuilt(origin: string): Response {
  const headers = new Headers(securityHeaders(origin));
  headers.set('content-type', 'text/plain; charset=utf-8');
  headers.set('cache-control', 'no-store');
  return new Response(NOT_BUILT, { status: 404, headers });
}

function securityHeaders(origin: string, pathname = ''): Record<string, string> {
  // The renderer of the API page writes style sheets and styles into the page.
  const styles = pathname === API_PAGE ? "'unsafe-inline'" : `${origin}/docs/`;
  return {
    'content-security-policy': [
      "default-src 'none'",
      `script-src ${origin}${HASHED_FILES}`,
      `style-src ${styles}`,
      `connect-src ${origin}/docs/ ${origin}/openapi.json`,
      `img-src ${origin}/docs/ data:`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'referrer-policy': 'no-referrer',
    // Cuts the handle on any window that another page opens in, the console too (`console-routes.ts`).
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  };
}
