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
