/**
 * The cookie of a console session. `__Host-` binds it to this host and to https (RFC 6265bis, 4.1.3.2), `HttpOnly` hides it
 * from scripts, and `SameSite=Strict` keeps it out of requests that another site starts. Its value is the secret of the
 * session and a tag over it, so that a value which nobody was ever given is refused before the database is asked.
 */
import { encodeBase64url } from '../../bytes/base64url.ts';
import { HmacSha256 } from '../../bytes/hmac-sha256.ts';
import { isSameSecret } from '../../bytes/same-secret.ts';
import type { StoreEnv } from '../../store/binding.ts';
import { deriveKey } from '../../store/keys/master-key.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import type { ConsolePlace } from '../sign-in-variables.ts';

/** 32 bytes of base64url and 16 of the tag. */
const VALUE = /^([A-Za-z0-9_-]{43})([A-Za-z0-9_-]{22})$/;
const TAG_BYTES = 16;

/** The secret of the session, or `null`. Of two cookies with the name, nobody can say which is ours: neither counts. */
export async function sessionSecret(store: StoreEnv, request: Request, place: ConsolePlace): Promise<string | null> {
  const [value, second] = cookieValues(request, place.cookieName);
  const [, secret, tag] = VALUE.exec(value ?? '') ?? [];
  if (secret === undefined || tag === undefined || second !== undefined) return null;
  return isSameSecret(tag, await tagOf(store, secret)) ? secret : null;
}

export function cookieValues(request: Request, name: string): string[] {
  const pairs = (request.headers.get('cookie') ?? '').split(';');
  return pairs.flatMap((pair) => {
    const at = pair.indexOf('=');
    return at > 0 && pair.slice(0, at).trim() === name ? [pair.slice(at + 1).trim()] : [];
  });
}

/** Without `Max-Age`: the browser forgets it when it is closed, and the row ends before that. */
export async function consoleCookie(store: StoreEnv, place: ConsolePlace, secret: string): Promise<string> {
  return `${place.cookieName}=${secret}${await tagOf(store, secret)}; ${attributes(place)}`;
}

export function endedCookie(place: ConsolePlace): string {
  return `${place.cookieName}=; ${attributes(place)}; Max-Age=0`;
}

async function tagOf(store: StoreEnv, secret: string): Promise<string> {
  const key = await deriveKey(await rootKey(store), 'console-session-cookie');
  return encodeBase64url(new HmacSha256(key).sign(secret).subarray(0, TAG_BYTES));
}

function attributes(place: ConsolePlace): string {
  return `Path=/; HttpOnly; SameSite=Strict${place.secure ? '; Secure' : ''}`;
}
