/** `GET /openapi.json` and `GET /docs`: the description of the API. Both are public, like the code. */
import { Hono } from 'hono';
import type { ServiceApp, ServiceHonoEnv } from '../../http/service-call.ts';
import { openapiText } from './openapi.generated.ts';
import { referencePage } from './reference-page.ts';
import type { OpenapiDocument } from './reference-page.ts';

/** The document changes only with a deployment. */
const MAX_AGE_SECONDS = 300;

export function referenceRoutes(): ServiceApp {
  const routes: ServiceApp = new Hono<ServiceHonoEnv>();
  routes.get(
    '/openapi.json',
    () =>
      new Response(openapiText, {
        headers: {
          'content-type': 'application/json',
          'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
          'access-control-allow-origin': '*',
        },
      }),
  );
  routes.get('/docs', async () => {
    const nonce = crypto.randomUUID();
    return new Response(await referencePage(JSON.parse(openapiText) as OpenapiDocument, nonce), {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; frame-ancestors 'none'`,
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
      },
    });
  });
  return routes;
}
