/** Calls to the service, typed by the OpenAPI document: a path, its request body and its response belong together. */
import type { components, paths } from './openapi-types.generated.ts';

export type Method = 'get' | 'post' | 'put';
type Path = keyof paths;
export type PathsWith<M extends Method> = {
  [P in Path]: paths[P] extends Record<M, object> ? P : never;
}[Path];
type JsonOf<Message> = Message extends { content: { 'application/json': infer Json } } ? Json : string;

/** No second argument for an operation without a body, an optional one where every field is optional. */
type BodyOf<Operation> = Operation extends { requestBody: infer Body }
  ? [body: JsonOf<Body>]
  : Operation extends { requestBody?: infer Body }
    ? [body?: JsonOf<NonNullable<Body>>]
    : [];
/** Anything but JSON is returned as text. */
type ResultOf<Operation> = Operation extends { responses: { 200: infer Done } } ? JsonOf<Done> : never;
type Call<M extends Method> = <P extends PathsWith<M>>(
  path: P,
  ...body: BodyOf<paths[P][M]>
) => Promise<ResultOf<paths[P][M]>>;

/** A schema by its name in the document. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

/** The body of a POST to `P`, and what it answers. */
export type RequestOf<P extends PathsWith<'post'>> = NonNullable<BodyOf<paths[P]['post']>[0]>;
export type ResponseOf<P extends PathsWith<'post'>> = ResultOf<paths[P]['post']>;

/** The same for operations without a body. */
export type GetPath = PathsWith<'get'>;
export type GetResponseOf<P extends GetPath> = ResultOf<paths[P]['get']>;

/** @param send carries a call out and returns the body of its 200. */
export function serviceApi(send: (method: Method, path: Path, body: unknown) => Promise<unknown>): {
  [M in Method]: Call<M>;
} {
  // The types above promise what the caller of `send` checks against the document.
  const call = (method: Method) => (path: Path, body?: unknown) => send(method, path, body);
  return { get: call('get'), post: call('post'), put: call('put') } as { [M in Method]: Call<M> };
}
