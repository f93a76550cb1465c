/** Reads the cookie of the visitor's session: `{session id}|{JWT}`. */

/** Frameworks that encode cookies write the bar as `%7C`. */
const COOKIE = /(?:^|; )protect_session=([A-Za-z0-9._-]{1,256})(?:(?:\||%7C)([^;]*))?/;

/** `null` without a session. */
export function cookieSessionId(): string | null {
  return COOKIE.exec(cookies())?.[1] ?? null;
}

/** A sandboxed frame may not read cookies, and reading them throws. */
function cookies(): string {
  try {
    return document.cookie;
  } catch {
    return '';
  }
}

/** Id and JWT: it changes with every renewal. `null` without a session. */
export function sessionCookieValue(): string | null {
  return COOKIE.exec(document.cookie)?.[0] ?? null;
}

/** Whether the session's JWT has expired: the edge then refuses it, and only a call of `/session` renews it. */
export function isSessionExpired(nowMs: number): boolean {
  const payload = COOKIE.exec(cookies())?.[2]?.split('.')[1];
  if (payload === undefined) return false;
  try {
    const { exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { exp: number };
    return exp * 1000 < nowMs;
  } catch {
    return false;
  }
}
