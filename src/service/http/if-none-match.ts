/** Conditional requests (RFC 9110, 13.1.2): a caller that already has the content gets 304 without a body. */
import { jsonResponse } from './json-response.ts';

/** `etag`: with its quotes. */
export function hasEntity(request: Request, etag: string): boolean {
  const known = request.headers.get('if-none-match') ?? '';
  return known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

export function revalidatedJson(request: Request, etag: string, body: unknown): Response {
  return hasEntity(request, etag)
    ? new Response(null, { status: 304, headers: { etag, 'cache-control': 'no-store' } })
    : jsonResponse(body, 200, { etag });
}
