/**
 * Where the console is, and which other ways into it the operator has configured. `environment.ts` reads the variables;
 * this file says what a right value is. Issuers are fetched, so anything but https is refused, unless it is on this
 * machine.
 */
import { isLoopback } from '../contract/management/outbound-address.ts';
import { failed, ok, type Result } from '../result.ts';

export interface ConsolePlace {
  /** The one origin that may call with a session, such as `https://gatehouse.example.com`. */
  origin: string;
  /** The relying party of passkeys: the host of the origin. */
  rpId: string;
  cookieName: string;
  /** Whether cookies are sent over https only. */
  secure: boolean;
}

export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

interface AccessSettings {
  /** `https://team.cloudflareaccess.com`: the `iss` of its JWTs. */
  issuer: string;
  /** The application audience tag. */
  audience: string;
}

export interface SignInSettings {
  /** `null` where browsers keep no secret: over http on a host that is not this machine. */
  console: ConsolePlace | null;
  oidc: OidcSettings | null;
  access: AccessSettings | null;
}

/** A passkey cannot belong to an IP address, so the console of a local stack is at `localhost`. */
export function consolePlace(serviceUrl: string): ConsolePlace | null {
  const url = new URL(serviceUrl);
  if (url.protocol === 'https:') {
    return { origin: url.origin, rpId: url.hostname, cookieName: '__Host-gatehouse', secure: true };
  }
  if (!isLoopback(url)) return null;
  url.hostname = 'localhost';
  return { origin: url.origin, rpId: 'localhost', cookieName: 'gatehouse', secure: false };
}

export function readOidc(issuer: string, clientId: string, clientSecret: string): Result<OidcSettings | null, string> {
  if (issuer === '' && clientId === '' && clientSecret === '') return ok(null);
  if (issuer === '' || clientId === '' || clientSecret === '') {
    return failed('OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET must be set together');
  }
  if (!isFetchable(issuer)) return failed('OIDC_ISSUER must be an https address without query and fragment');
  return ok({ issuer, clientId, clientSecret });
}

export function readAccess(teamDomain: string, audience: string): Result<AccessSettings | null, string> {
  if (teamDomain === '' && audience === '') return ok(null);
  if (teamDomain === '' || audience === '') return failed('ACCESS_TEAM_DOMAIN and ACCESS_AUD must be set together');
  const issuer = teamDomain.includes('://') ? teamDomain : `https://${teamDomain}`;
  if (!isFetchable(issuer) || new URL(issuer).origin !== issuer) {
    return failed('ACCESS_TEAM_DOMAIN must be a host such as team.cloudflareaccess.com');
  }
  return ok({ issuer, audience });
}

function isFetchable(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && url.search === '' && url.hash === '' && isSafeAddress(address);
}

/** Https, or on this machine, and without a name or password in it. */
export function isSafeAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));
}
