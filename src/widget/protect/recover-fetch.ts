/**
 * `fetch` that survives a challenge: same arguments, same answer, only that a request the gate held
 * up is sent again after the visitor has passed. Requests to other origins and bodies that can be
 * read only once go through untouched.
 */
import type { Recovery } from './recovery.ts';

/** Answers whether the gate stands in front of this address. */
export type IsGuarded = (url: string) => boolean;

export function recoverFetch(scope: { fetch: typeof fetch }, recovery: Recovery, isGuarded: IsGuarded): void {
  const send = scope.fetch.bind(scope);
  scope.fetch = async (input, init) => {
    const isRequest = input instanceof Request;
    const body: unknown = init?.body;
    if (!isGuarded(isRequest ? input.url : String(input)) || body instanceof ReadableStream) return send(input, init);
    // A Request's body can be read once: the copy must be made before it is sent.
    const spares: Request[] = isRequest ? [input.clone(), input.clone()] : [];
    const tried = new Set<string>();
    let response = await send(input, init);
    while (await recovery.recover(gateAnswer(response), tried)) {
      response = await send(spares.pop() ?? input, init);
    }
    for (const spare of spares) void spare.body?.cancel().catch(() => undefined);
    return response;
  };
}

function gateAnswer(response: Response): Parameters<Recovery['recover']>[0] {
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    body: () => response.clone().json(),
  };
}
