/**
 * A `fetch` that recovers from a challenge: a request that the gate challenged is sent again after the visitor has
 * passed. Arguments and responses stay the same. Requests to other origins, and streams, which can be read only once,
 * are sent as they are.
 */
import type { Recovery } from './recovery.ts';

/** Whether requests to this address pass the gate. */
export type IsGuarded = (url: string) => boolean;

export function recoverFetch(scope: { fetch: typeof fetch }, recovery: Recovery, isGuarded: IsGuarded): void {
  const send = scope.fetch.bind(scope);
  scope.fetch = async (input, init) => {
    const isRequest = input instanceof Request;
    const body: unknown = init?.body;
    if (!isGuarded(isRequest ? input.url : String(input)) || body instanceof ReadableStream) return send(input, init);
    // A Request's body can be read only once, so the copies are made before it is sent.
    const spares: Request[] = isRequest ? [input.clone(), input.clone()] : [];
    const attempt = recovery.attempt();
    let response = await send(input, init);
    while (await recovery.recover(gateResponse(response), attempt)) {
      response = await send(spares.pop() ?? input, init);
    }
    for (const spare of spares) void spare.body?.cancel().catch(() => undefined);
    return response;
  };
}

function gateResponse(response: Response): Parameters<Recovery['recover']>[0] {
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    body: () => response.clone().json(),
  };
}
