/**
 * The console: sign-in, one page under every other path below `/console`, so that the address of a view can be opened and
 * shared, and the files that it loads. The page is the same for everybody: what a view shows comes from the management
 * API.
 */
import { type Context, Hono } from 'hono';
import { consoleFiles, consolePage } from '../../console/bundle.generated.ts';
import type { ServiceApp, ServiceHonoEnv } from '../http/service-call.ts';
import { consoleAuthRoutes } from './auth-routes.ts';

/** No script but the console's own, no markup from text, no frame around it, and no other host. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  // The one for the widget that people try here, and the widget's own for the scripts beside it.
  'trusted-types gatehouse-console gatehouse',
].join('; ');

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  // After a deployment, the page names other files.
  'cache-control': 'no-cache',
  'referrer-policy': 'no-referrer',
  // Not the value of the documentation: windows of one origin with one value keep their handles on each other, and a bad
  // script of the documentation could then act in a window of the console.
  'cross-origin-opener-policy': 'same-origin-allow-popups',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
} as const;

export function consoleRoutes(): ServiceApp {
  const routes: ServiceApp = new Hono<ServiceHonoEnv>();
  routes.get('/console/assets/:name', (context) => {
    const name = context.req.param('name');
    const body = Object.hasOwn(consoleFiles, name) ? consoleFiles[name] : undefined;
    if (body === undefined) return context.notFound();
    return new Response(body, {
      headers: {
        'content-type': name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8',
        // The name has the hash of the content.
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
      },
    });
  });
  routes.route('/', consoleAuthRoutes());
  // A mistyped address of the sign-in is no view.
  routes.get('/console/auth/*', (context) => context.notFound());
  routes.get('/console', page);
  routes.get('/console/*', page);
  return routes;
}

/** On a local stack, the console is at `localhost` only: a passkey cannot belong to 127.0.0.1. Browsers keep the fragment. */
function page(context: Context<ServiceHonoEnv>): Response {
  const place = context.get('environment').signIn.console;
  const { origin, pathname, search } = new URL(context.req.url);
  if (place !== null && !place.secure && origin !== place.origin) {
    return new Response(null, { status: 302, headers: { location: `${place.origin}${pathname}${search}` } });
  }
  return new Response(consolePage, { headers: PAGE_HEADERS });
}
