/**
 * The public captcha routes: verification for backends, challenge and solution for browsers on any
 * page (CORS-open, no credentials), the page for visitors without script, and the widget's files. Mounted
 * at `/` by the service.
 */
import { Hono } from 'hono';
import type { Context } from 'hono';
import type { ServiceApp, ServiceCall, ServiceHonoEnv } from '../http/service-call.ts';
import { jsonResponse, respondError } from '../http/respond-error.ts';
import { serviceCall } from '../http/service-call.ts';
import { createChallenge } from './challenge/create-challenge.ts';
import { siteverifyAlias } from './siteverify/siteverify-alias.ts';
import { siteverify } from './siteverify/siteverify.ts';
import { submitSolution } from './solution/submit-solution.ts';
import { waitPage } from './wait/wait-page.ts';
import { publicAssets, widgetAsset } from './widget-assets.ts';

type CaptchaContext = Context<ServiceHonoEnv>;

const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST',
  'access-control-allow-headers': 'content-type',
  // Browsers cap it at two hours or a day; a preflight a visit is enough.
  'access-control-max-age': '86400',
} as const;

export function captchaRoutes(): ServiceApp {
  const routes = new Hono<ServiceHonoEnv>();
  routes.post('/siteverify', (context) => answer(context, siteverify, {}));
  for (const [path, dialect] of [
    ['/turnstile/v0/siteverify', 'turnstile'],
    ['/hcaptcha/siteverify', 'hcaptcha'],
    ['/recaptcha/api/siteverify', 'recaptcha'],
  ] as const) {
    routes.post(path, (context) => answer(context, (call) => siteverifyAlias(dialect, call), {}));
  }
  for (const [path, handler] of [
    ['/captcha/v1/challenge', createChallenge],
    ['/captcha/v1/solution', submitSolution],
  ] as const) {
    routes.options(path, () => new Response(null, { status: 204, headers: CORS_HEADERS }));
    routes.post(path, (context) => answer(context, handler, CORS_HEADERS));
  }
  routes.on(['GET', 'POST'], '/captcha/v1/wait', (context) => waitPage(serviceCall(context)));
  for (const name of publicAssets) {
    routes.get(`/${name}`, (context) => widgetAsset(context.req.raw, name) ?? context.notFound());
  }
  return routes;
}

/** Runs a handler and turns its value or its refusal into the answer: a browser must be able to read both. */
async function answer(
  context: CaptchaContext,
  handler: (call: ServiceCall) => Promise<object>,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const call = serviceCall(context);
  let response: Response;
  try {
    const value = await handler(call);
    response = value instanceof Response ? value : jsonResponse(value);
  } catch (error) {
    response = respondError(error, call.requestId);
  }
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
