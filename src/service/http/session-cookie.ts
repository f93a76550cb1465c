/**
 * The cookie of a console session. `__Host-` binds it to this host and to https (RFC 6265bis, 4.1.3.2), `HttpOnly` hides it
 * from scripts, and `SameSite=Strict` keeps it out of requests that another site starts.
 */
import type { ConsolePlace } from '../sign-in-variables.ts';

/** 32 bytes of base64url. Another value was not made here. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** The secret of the session, or `null`. Of two cookies with the name, nobody can say which is ours: neither counts. */
export function sessionSecret(request: Request, place: ConsolePlace): string | null {
  const [value, second] = cookieValues(request, place.cookieName);
  return value !== undefined && second === undefined && SECRET.test(value) ? value : null;
}

export function cookieValues(request: Request, name: string): string[] {
  const pairs = (request.headers.get('cookie') ?? '').split(';');
  return pairs.flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
}

/** Without `Max-Age`: the browser forgets it when it is closed, and the row ends before that. */
export function sessionCookie(place: ConsolePlace, secret: string): string {
  return `${place.cookieName}=${secret}; ${attributes(place)}`;
}

export function endedCookie(place: ConsolePlace): string {
  return `${place.cookieName}=; ${attributes(place)}; Max-Age=0`;
}

function attributes(place: ConsolePlace): string {
  return `Path=/; HttpOnly; SameSite=Strict${place.secure ? '; Secure' : ''}`;
}
