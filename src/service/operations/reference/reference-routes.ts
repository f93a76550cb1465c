/** `GET /openapi.json` and `GET /gatehouse.schema.json`: the API and a configuration file. Both are public, like the code. */
import { Hono } from 'hono';
import type { ServiceApp, ServiceHonoEnv } from '../../http/service-call.ts';
import { configSchemaText, openapiText } from './openapi.generated.ts';

/** The documents change only with a deployment. */
const MAX_AGE_SECONDS = 300;

export function referenceRoutes(): ServiceApp {
  const routes: ServiceApp = new Hono<ServiceHonoEnv>();
  routes.get('/openapi.json', () => jsonDocument(openapiText));
  // Editors read it by the first line of a configuration file.
  routes.get('/gatehouse.schema.json', () => jsonDocument(configSchemaText));
  return routes;
}

function jsonDocument(text: string): Response {
  return new Response(text, {
    headers: {
      'content-type': 'application/json',
      'cache-control': `public, max-age=${MAX_AGE_SECONDS}`,
      'access-control-allow-origin': '*',
    },
  });
}
