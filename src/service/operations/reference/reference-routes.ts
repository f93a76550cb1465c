/** `GET /openapi.json`: the description of the API. It is public, like the code. */
import { Hono } from 'hono';
import type { ServiceApp, ServiceHonoEnv } from '../../http/service-call.ts';
import { openapiText } from './openapi.generated.ts';

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
  return routes;
}
