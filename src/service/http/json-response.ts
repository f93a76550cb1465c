/** JSON responses. They have secrets, or depend on secrets, so no cache on the way may keep one. */

export function jsonResponse(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonTextResponse(JSON.stringify(body), status, headers);
}

/** `text`: JSON that is written already. */
export function jsonTextResponse(text: string, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
  });
}

/**
 * Conditional requests (RFC 9110, 13.1.2): a caller that already has the content gets 304 without a body. `etag`: with
 * its quotes.
 */
export function hasEntity(request: Request, etag: string): boolean {
  const known = request.headers.get('if-none-match') ?? '';
  return known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

export function revalidatedJson(request: Request, etag: string, body: unknown): Response {
  return hasEntity(request, etag)
    ? new Response(null, { status: 304, headers: { etag, 'cache-control': 'no-store' } })
    : jsonResponse(body, 200, { etag });
}
