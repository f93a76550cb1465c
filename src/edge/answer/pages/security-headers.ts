/**
 * Headers of every page the gate makes: never stored, never indexed, and only its own script and style run.
 * `frame-ancestors 'self'` and not `'none'`: a challenged same-origin frame must be able to show its challenge, and no
 * other site may frame it.
 */

/** `nonce`: random, from the caller. `logoUrl`: the branding's logo; only its host may serve pictures. */
export function pageSecurityHeaders(nonce: string, logoUrl?: string): Record<string, string> {
  if (!/^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(nonce)) throw new TypeError('A CSP nonce is base64 of at least 12 bytes');
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'self'`,
    "worker-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    `style-src 'nonce-${nonce}'`,
    `img-src 'self'${logoUrl?.startsWith('https://') ? ` ${new URL(logoUrl).origin}` : ''}`,
    "form-action 'self'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types gatehouse',
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    vary: 'Accept-Language, Cookie, User-Agent',
  };
}
