/**
 * The public captcha routes: verification for backends, challenge and solution for browsers on any page (open to CORS,
 * without credentials), the page for visitors without scripts, and the files of the widget.
 */
import { type Context, Hono } from 'hono';
import { type ServiceApp, type ServiceCall, serviceCall, type ServiceHonoEnv } from '../http/service-call.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse, unexpectedErrorResponse } from '../http/respond-error.ts';
import type { CaptchaRouteError } from '../http/service-error.ts';
import { ok, type Result } from '../../result.ts';
import { createChallenge } from './challenge/create-challenge.ts';
import { siteverifyAlias } from './siteverify/siteverify-alias.ts';
import { siteverify } from './siteverify/siteverify.ts';
import { submitSolution } from './solution/submit-solution.ts';
import { waitPage } from './wait/wait-page.ts';
import { compatAssets, publicAssets, widgetAsset } from './widget-assets.ts';

type CaptchaContext = Context<ServiceHonoEnv>;

const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'content-type',
  // Browsers keep it for two hours or a day at most. One preflight per visit is enough.
  'access-control-max-age': '86400',
} as const;

export function captchaRoutes(): ServiceApp {
  const routes = new Hono<ServiceHonoEnv>();
  routes.post('/siteverify', (context) => respond(context, siteverify, {}));
  for (const [path, dialect] of [
    ['/turnstile/v0/siteverify', 'turnstile'],
    ['/hcaptcha/siteverify', 'hcaptcha'],
    ['/recaptcha/api/siteverify', 'recaptcha'],
  ] as const) {
    // The other two refuse GET, as the originals do.
    routes.on(dialect === 'recaptcha' ? ['GET', 'POST'] : ['POST'], path, (context) =>
      respond(context, async (call) => ok(await siteverifyAlias(dialect, call)), {}),
    );
  }
  for (const [path, handler] of [
    ['/captcha/v1/challenge', createChallenge],
    ['/captcha/v1/solution', submitSolution],
  ] as const) {
    routes.options(path, () => new Response(null, { status: 204, headers: CORS_HEADERS }));
    routes.post(path, (context) => respond(context, handler, CORS_HEADERS));
  }
  routes.on(['GET', 'POST'], '/captcha/v1/wait', (context) => waitPage(serviceCall(context)));
  const files = [...publicAssets.map((name) => [`/${name}`, name] as const), ...Object.entries(compatAssets)];
  for (const [path, name] of files)
    routes.get(path, (context) => widgetAsset(context.req.raw, name) ?? context.notFound());
  return routes;
}

/** Every response has the headers, errors too: the page that called must be able to read both. */
async function respond(
  context: CaptchaContext,
  handler: (call: ServiceCall) => Promise<Result<object, CaptchaRouteError>>,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const call = serviceCall(context);
  const response = await responseOf(handler, call);
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

async function responseOf(
  handler: (call: ServiceCall) => Promise<Result<object, CaptchaRouteError>>,
  call: ServiceCall,
): Promise<Response> {
  try {
    const result = await handler(call);
    if (!result.ok) return errorResponse(result.error);
    return result.value instanceof Response ? result.value : jsonResponse(result.value);
  } catch (error) {
    return unexpectedErrorResponse(error, call.requestId);
  }
}
