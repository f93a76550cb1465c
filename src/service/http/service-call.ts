/** What a route gets of its request, whichever table of routes it is in. */
import type { WaitUntil } from '../../bytes/polled.ts';
import type { Context, Hono } from 'hono';
import type { ServiceEnvironment } from '../environment.ts';

export interface ServiceHonoEnv {
  Bindings: ServiceEnv;
  Variables: { requestId: string; environment: ServiceEnvironment };
}

export type ServiceApp = Hono<ServiceHonoEnv>;

/** One request and the checked environment. Made once per request; a handler names the parts that it needs. */
export interface ServiceCall extends ServiceEnvironment {
  request: Request;
  /** In every response as `X-Request-Id`, and in the log. */
  requestId: string;
  /** Epoch milliseconds, read once per request. */
  nowMs: number;
  waitUntil: WaitUntil;
}

export function serviceCall(context: Context<ServiceHonoEnv>): ServiceCall {
  return {
    ...context.get('environment'),
    request: context.req.raw,
    requestId: context.get('requestId'),
    nowMs: Date.now(),
    waitUntil: (work) => context.executionCtx.waitUntil(work),
  };
}
