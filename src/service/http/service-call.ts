/** What a route of the service gets of its request, whichever of the three tables it stands in. */
import type { Context, Hono } from 'hono';

export interface ServiceHonoEnv {
  Bindings: ServiceEnv;
  Variables: { requestId: string };
}

export type ServiceApp = Hono<ServiceHonoEnv>;

/** What every route of the service gets of its request, read once. */
export interface ServiceCall {
  env: ServiceEnv;
  request: Request;
  /** In every answer as `X-Request-Id`, and in the log. */
  requestId: string;
  /** Epoch milliseconds. */
  now: number;
  waitUntil: (work: Promise<unknown>) => void;
}

export function serviceCall(context: Context<ServiceHonoEnv>): ServiceCall {
  return {
    env: context.env,
    request: context.req.raw,
    requestId: context.get('requestId'),
    now: Date.now(),
    waitUntil: (work) => context.executionCtx.waitUntil(work),
  };
}
