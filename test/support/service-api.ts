/** Calls to the service, typed by the OpenAPI document: a path, its request body and its response belong together. */
import type { paths } from './service-api.generated.ts';

type Method = 'get' | 'post' | 'put';
type PathsWith<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Record<M, object> ? Path : never;
}[keyof paths];
type JsonOf<Message> = Message extends { content: { 'application/json': infer Json } } ? Json : string;

/** No second argument for an operation without a body, an optional one where every field is optional. */
type BodyOf<Operation> = Operation extends { requestBody: infer Body }
  ? [body: JsonOf<Body>]
  : Operation extends { requestBody?: infer Body }
    ? [body?: JsonOf<NonNullable<Body>>]
    : [];
/** Anything but JSON is returned as text. */
type ResultOf<Operation> = Operation extends { responses: { 200: infer Done } } ? JsonOf<Done> : never;
type Call<M extends Method> = <Path extends PathsWith<M>>(
  path: Path,
  ...body: BodyOf<paths[Path][M]>
) => Promise<ResultOf<paths[Path][M]>>;

/** @param send carries a call out and returns the body of its 200. */
export function serviceApi(send: (method: Method, path: keyof paths, body: unknown) => Promise<unknown>): {
  [M in Method]: Call<M>;
} {
  // The types above promise what the caller of `send` checks against the document.
  const call = (method: Method) => (path: keyof paths, body?: unknown) => send(method, path, body);
  return { get: call('get'), post: call('post'), put: call('put') } as { [M in Method]: Call<M> };
}
