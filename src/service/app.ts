/**
 * The service Worker's routes, made from three tables: management operations, edge calls and the public
 * captcha routes. What holds for every answer is said here once: a request id, the error envelope,
 * 404 and 405, and no cache.
 */
import { Hono } from 'hono';
import { environmentOf } from './environment.ts';
import { authenticateEdge } from './http/authenticate-edge.ts';
import type { EdgeRoute } from './edge-api/edge-route.ts';
import { jwks } from './edge-api/jwks.ts';
import type { Operation } from './operations/define-operation.ts';
import { errorResponse, respondError } from './http/respond-error.ts';
import { runOperation } from './operations/run-operation.ts';
import { serviceCall } from './http/service-call.ts';
import type { ServiceApp, ServiceHonoEnv } from './http/service-call.ts';

export interface ServiceParts {
  operations: readonly Operation[];
  edgeRoutes: readonly EdgeRoute[];
  /** `/siteverify`, the challenge API and the widget's files. */
  captcha: ServiceApp;
  /** The API's own description. */
  reference: ServiceApp;
}

export function serviceApp(parts: ServiceParts): ServiceApp {
  const app: ServiceApp = new Hono<ServiceHonoEnv>({ strict: true });

  app.use(async (c, next) => {
    c.set('requestId', crypto.randomUUID());
    const environment = environmentOf(c.env);
    if (environment.ok) {
      c.set('environment', environment.value);
      await next();
    } else {
      c.res = notConfigured();
    }
    // Not by `c.header`, which makes a new response for each header: a fifth of what /health costs.
    const { headers } = c.res;
    headers.set('X-Request-Id', c.get('requestId'));
    headers.set('X-Content-Type-Options', 'nosniff');
  });
  app.onError((error, c) => respondError(error, c.get('requestId')));

  app.get('/health', () => Response.json({ status: 'ok' }, { headers: { 'cache-control': 'no-store' } }));
  app.get('/.well-known/jwks.json', (c) => jwks(c.get('environment').store, Date.now()));
  for (const operation of parts.operations) {
    app.on(operation.method, operation.path, (c) => runOperation(operation, serviceCall(c)));
  }
  for (const route of parts.edgeRoutes) {
    app.on(route.method, route.path, async (c) => {
      const call = serviceCall(c);
      return route.handler({ ...call, instance: await authenticateEdge(call) }, c.req.param());
    });
  }
  app.route('/', parts.captcha);
  app.route('/', parts.reference);

  // Behind the routes themselves: a known path with another method.
  for (const [path, methods] of allowedMethods(app)) {
    app.all(path, () =>
      errorResponse('API.METHOD_NOT_ALLOWED', `Use ${methods.join(' or ')}`, undefined, { allow: methods.join(', ') }),
    );
  }
  app.notFound(() => errorResponse('API.NOT_FOUND', 'There is nothing at this path'));
  return app;
}

/** The log names every mistake; a caller learns nothing about them. */
function notConfigured(): Response {
  return errorResponse('API.UNAVAILABLE', 'This service is not configured; its log names every mistake', undefined, {
    'retry-after': '60',
  });
}

function allowedMethods(app: ServiceApp): Map<string, string[]> {
  const byPath = new Map<string, string[]>();
  for (const { path, method } of app.routes) {
    if (method === 'ALL') continue;
    const methods = byPath.get(path) ?? [];
    if (!methods.includes(method)) methods.push(method);
    if (method === 'GET' && !methods.includes('HEAD')) methods.push('HEAD');
    byPath.set(path, methods);
  }
  return byPath;
}
