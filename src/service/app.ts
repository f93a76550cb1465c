/**
 * The routes of the service Worker, made from three tables: management operations, edge calls and the public captcha
 * routes. This file has what all responses share: the request id, 404, 405, and 503 for a service that is not
 * configured.
 */
import { Hono } from 'hono';
import { GATEHOUSE_VERSION, VERSION_HEADER } from '../contract/version.ts';
import type { EdgeRoute } from './edge-api/edge-route.ts';
import { jwks } from './edge-api/jwks.ts';
import { environmentOf } from './environment.ts';
import { authenticateEdge } from './http/authenticate.ts';
import { serviceHealth } from './health.ts';
import { errorResponse, unexpectedErrorResponse } from './http/respond-error.ts';
import { type ServiceApp, serviceCall, type ServiceHonoEnv } from './http/service-call.ts';
import type { Operation } from './operations/define-operation.ts';
import { runOperation } from './operations/run-operation.ts';

interface ServiceParts {
  operations: readonly Operation[];
  edgeRoutes: readonly EdgeRoute[];
  /** `/siteverify`, the challenge API and the files of the widget. */
  captcha: ServiceApp;
  /** The description of the API. */
  reference: ServiceApp;
  /** The pages of the documentation. */
  docs: ServiceApp;
  /** The console: sign-in, page and files. */
  console: ServiceApp;
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
      c.res = errorResponse({ kind: 'not-configured' });
    }
    // Not with `c.header`, which makes a new response for each header: that took a fifth of the time of /health.
    const { headers } = c.res;
    headers.set('X-Request-Id', c.get('requestId'));
    headers.set('X-Content-Type-Options', 'nosniff');
  });
  app.onError((error, c) => unexpectedErrorResponse(error, c.get('requestId')));

  app.get('/health', (c) => serviceHealth(c.get('environment').store, Date.now()));
  app.get('/.well-known/jwks.json', (c) => jwks(c.get('environment').store, Date.now()));
  for (const operation of parts.operations) {
    app.on(operation.method, operation.path, async (c) => {
      const response = await runOperation(operation, serviceCall(c));
      response.headers.set(VERSION_HEADER, GATEHOUSE_VERSION);
      return response;
    });
  }
  for (const route of parts.edgeRoutes) {
    app.on(route.method, route.path, async (c) => {
      const call = serviceCall(c);
      const edge = await authenticateEdge(call);
      if (!edge.ok) return errorResponse(edge.error);
      return route.handler({ ...call, ...edge.value }, c.req.param());
    });
  }
  app.route('/', parts.captcha);
  app.route('/', parts.reference);
  app.route('/', parts.docs);
  app.route('/', parts.console);

  // After the routes themselves: a known path with another method.
  for (const [path, allowed] of allowedMethods(app)) {
    app.all(path, () => errorResponse({ kind: 'method-not-allowed', allowed }));
  }
  app.notFound(() => errorResponse({ kind: 'path-unknown' }));
  return app;
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
