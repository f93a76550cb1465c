/**
 * Sign-in with OpenID Connect: authorization code with PKCE, state and nonce (RFC 9700). All three wait in a sealed cookie
 * of the browser that began, so a code that was obtained elsewhere signs nobody in here. Only an address that the issuer
 * has verified counts, and only of a team member: the issuer says who somebody is, the account says whether they may.
 */
import {
  ClientSecretBasic,
  ClientSecretPost,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  getValidatedIdTokenClaims,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import type { AuthorizationServer } from 'oauth4webapi';
import * as z from 'zod/mini';
import { emailAddress } from '../../../contract/management/email-address.ts';
import { failed, ok } from '../../../result.ts';
import type { Result } from '../../../result.ts';
import { jsonResponse } from '../../http/json-response.ts';
import { keyOf } from '../../http/respond-error.ts';
import { cookieValues } from '../../http/session-cookie.ts';
import type { ConsolePlace, OidcSettings } from '../../sign-in-variables.ts';
import type { ConsoleCall, ConsoleError, ConsoleResult } from './console-call.ts';
import { enter } from './open-session.ts';
import type { Entry } from './open-session.ts';
import { TICKET_VALID_MS, issueTicket, takeTicket } from './ticket.ts';

const round = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() });

const PROVIDER = 'The identity provider';
/** An issuer that takes longer is down. */
const ISSUER_TIMEOUT_MS = 10_000;

/** `POST /console/auth/oidc/start`: the address of the issuer to go to. */
export async function oidcStart(call: ConsoleCall): Promise<ConsoleResult> {
  const { oidc } = call.signIn;
  if (oidc === null) return failed({ kind: 'provider-not-configured', provider: 'OpenID Connect' });
  const issuer = await discovered(oidc);
  if (!issuer.ok) return issuer;
  const endpoint = issuer.value.authorization_endpoint;
  if (endpoint === undefined) return refused('has no authorization endpoint');
  const kept = { state: generateRandomState(), nonce: generateRandomNonce(), verifier: generateRandomCodeVerifier() };
  const url = new URL(endpoint);
  const parameters = {
    response_type: 'code',
    client_id: oidc.clientId,
    redirect_uri: redirectUri(call.place),
    scope: 'openid email',
    state: kept.state,
    nonce: kept.nonce,
    code_challenge: await calculatePKCECodeChallenge(kept.verifier),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const ticket = await issueTicket(call.store, 'oidc', kept, call.nowMs);
  return ok(jsonResponse({ url: url.href }, 200, { 'set-cookie': roundCookie(call.place, ticket) }));
}

/** `GET /console/auth/oidc/callback`: the browser comes back from the issuer, and goes on to the console. */
export async function oidcCallback(call: ConsoleCall): Promise<Response> {
  const entry = await completed(call);
  if (!entry.ok) {
    const key = keyOf(entry.error);
    console.warn(JSON.stringify({ event: 'oidc-refused', requestId: call.requestId, key, error: entry.error }));
    return onwards(call.place, `refused=${key}`, []);
  }
  return entry.value.kind === 'choose'
    ? onwards(call.place, `choose=${entry.value.ticket}`, [])
    : onwards(call.place, '', [entry.value.cookie]);
}

async function completed(call: ConsoleCall): Promise<Result<Entry, ConsoleError>> {
  const { oidc } = call.signIn;
  if (oidc === null) return failed({ kind: 'provider-not-configured', provider: 'OpenID Connect' });
  const [ticket, second] = cookieValues(call.request, roundCookieName(call.place));
  if (ticket === undefined || second !== undefined) return failed({ kind: 'sign-in-late' });
  const kept = await takeTicket(call.store, 'oidc', round, ticket, call.nowMs);
  if (!kept.ok) return kept;
  const issuer = await discovered(oidc);
  if (!issuer.ok) return issuer;
  const email = await verifiedEmail(call, oidc, issuer.value, kept.value);
  return email.ok ? enter(call, { email: email.value, method: 'oidc' }, null) : email;
}

async function verifiedEmail(
  { request, place }: ConsoleCall,
  oidc: OidcSettings,
  issuer: AuthorizationServer,
  kept: z.infer<typeof round>,
): Promise<Result<string, ConsoleError>> {
  const client = { client_id: oidc.clientId };
  try {
    const answer = validateAuthResponse(issuer, client, new URL(request.url), kept.state);
    const response = await authorizationCodeGrantRequest(
      issuer,
      client,
      clientAuthentication(issuer, oidc.clientSecret),
      answer,
      redirectUri(place),
      kept.verifier,
      requestOptions(oidc),
    );
    const tokens = await processAuthorizationCodeResponse(issuer, client, response, {
      expectedNonce: kept.nonce,
      requireIdToken: true,
    });
    const claims = getValidatedIdTokenClaims(tokens);
    const email = emailAddress.safeParse(claims?.['email']);
    if (!email.success) return refused('sent no email address');
    // An issuer lets people write any address into their profile. Only a verified one says who they are.
    return claims?.['email_verified'] === true ? ok(email.data) : refused('has not verified the email address');
  } catch (error) {
    return refused(`did not confirm the sign-in (${nameOf(error)})`);
  }
}

async function discovered(oidc: OidcSettings): Promise<Result<AuthorizationServer, ConsoleError>> {
  const issuer = new URL(oidc.issuer);
  try {
    const response = await discoveryRequest(issuer, requestOptions(oidc));
    return ok(await processDiscoveryResponse(issuer, response));
  } catch (error) {
    return refused(`cannot be reached, or is not the issuer that OIDC_ISSUER names (${nameOf(error)})`);
  }
}

function clientAuthentication(issuer: AuthorizationServer, secret: string) {
  // The default of the standard is Basic (OpenID Connect Discovery, 3).
  const methods = issuer.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/** Plain http is for an issuer on this machine alone: the environment refuses every other one. */
function requestOptions({ issuer }: OidcSettings) {
  return {
    [allowInsecureRequests]: issuer.startsWith('http:'),
    signal: AbortSignal.timeout(ISSUER_TIMEOUT_MS),
  };
}

/** The kind of an error of the library, never its content: that has tokens. */
function nameOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : 'unreachable';
}

function refused(why: string): { ok: false; error: ConsoleError } {
  return failed({ kind: 'provider-refused', provider: PROVIDER, why });
}

function redirectUri({ origin }: ConsolePlace): string {
  return `${origin}/console/auth/oidc/callback`;
}

/** The fragment stays in the browser: no server and no log sees the ticket. */
function onwards(place: ConsolePlace, fragment: string, cookies: readonly string[]): Response {
  const headers = new Headers({
    location: `${place.origin}/console${fragment === '' ? '' : `#${fragment}`}`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  });
  for (const cookie of [...cookies, roundCookie(place, '', 0)]) headers.append('set-cookie', cookie);
  return new Response(null, { status: 303, headers });
}

function roundCookieName({ cookieName }: ConsolePlace): string {
  return `${cookieName}-oidc`;
}

/** `Lax`, because the way back from the issuer begins on another site. */
function roundCookie(place: ConsolePlace, ticket: string, maxAgeSeconds = TICKET_VALID_MS / 1000): string {
  const secure = place.secure ? '; Secure' : '';
  return `${roundCookieName(place)}=${ticket}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}
