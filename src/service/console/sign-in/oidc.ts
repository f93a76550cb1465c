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
  customFetch,
  discoveryRequest,
  generateRandomCodeVerifier,
  generateRandomNonce,
  generateRandomState,
  getValidatedIdTokenClaims,
  processAuthorizationCodeResponse,
  processDiscoveryResponse,
  type AuthorizationServer,
  validateAuthResponse,
} from 'oauth4webapi';
import * as z from 'zod/mini';
import type { signInBodies } from '../../../contract/console/sign-in.ts';
import { emailAddress } from '../../../contract/management/email-address.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { jsonResponse } from '../../http/json-response.ts';
import { errorKeyOf } from '../../http/respond-error.ts';
import { cookieValues } from '../../http/session-cookie.ts';
import { isSafeAddress, type ConsolePlace, type OidcSettings } from '../../sign-in-variables.ts';
import type { ConsoleCall, ConsoleError, ConsoleResult } from './console-call.ts';
import { completeSignIn, readProof, takeProof } from './complete-sign-in.ts';
import { providerFetch, whyOf } from './provider-fetch.ts';
import { TICKET_VALID_MS, issueTicket, takeTicket } from './ticket.ts';

const endpoint = z.string().check(z.maxLength(2048), z.refine(isSafeAddress));
/** What we use of the discovery document. The browser is sent to the first address, the client's secret to the second. */
const endpoints = z.object({
  authorization_endpoint: endpoint,
  token_endpoint: endpoint,
  token_endpoint_auth_methods_supported: z.optional(z.array(z.string())),
});
type Issuer = AuthorizationServer & Pick<z.infer<typeof endpoints>, 'authorization_endpoint'>;

const round = z.object({ state: z.string(), nonce: z.string(), verifier: z.string() });

const PROVIDER = 'The identity provider';

/** `POST /console/auth/oidc/start`: the address of the issuer to go to. */
export async function oidcStart(call: ConsoleCall): Promise<ConsoleResult> {
  const { oidc } = call.signIn;
  if (oidc === null) return failed({ kind: 'provider-not-configured', provider: 'OpenID Connect' });
  const issuer = await discovered(oidc);
  if (!issuer.ok) return issuer;
  const kept = { state: generateRandomState(), nonce: generateRandomNonce(), verifier: generateRandomCodeVerifier() };
  const url = new URL(issuer.value.authorization_endpoint);
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

/**
 * `GET /console/auth/oidc/callback`: the browser comes back from the issuer, and goes on to the console. It signs nobody in:
 * a navigation from another site brings no session along, so it could not tell whose it would end. The proof waits in
 * the cookie, where no address can plant it, for a page of the console to call `finish`.
 */
export async function oidcCallback(call: ConsoleCall): Promise<Response> {
  const email = await provedEmail(call);
  if (!email.ok) {
    const key = errorKeyOf(email.error);
    console.warn(JSON.stringify({ event: 'oidc-refused', requestId: call.requestId, key, error: email.error }));
    return onwards(call.place, `refused=${key}`, roundCookie(call.place, '', 0));
  }
  const proof = await issueTicket(call.store, 'proved', { email: email.value, method: 'oidc' }, call.nowMs);
  return onwards(call.place, 'from=issuer', roundCookie(call.place, proof));
}

/** `POST /console/auth/oidc/finish` */
export async function oidcFinish(
  call: ConsoleCall,
  { replaces }: z.infer<typeof signInBodies.provider>,
): Promise<ConsoleResult> {
  const ticket = roundTicket(call);
  if (!ticket.ok) return ticket;
  const proof = await readProof(call, 'proved', ticket.value);
  if (!proof.ok) return proof;
  const done = await completeSignIn(call, {
    replaces,
    proved: () => proof.value.email,
    take: () => takeProof(call, 'proved', ticket.value, null),
  });
  // With a question, the proof is still needed.
  if (done.ok && done.value instanceof Response) {
    done.value.headers.append('set-cookie', roundCookie(call.place, '', 0));
  }
  return done;
}

async function provedEmail(call: ConsoleCall): Promise<Result<string, ConsoleError>> {
  const { oidc } = call.signIn;
  if (oidc === null) return failed({ kind: 'provider-not-configured', provider: 'OpenID Connect' });
  const ticket = roundTicket(call);
  if (!ticket.ok) return ticket;
  const kept = await takeTicket(call.store, 'oidc', round, ticket.value, call.nowMs);
  if (!kept.ok) return kept;
  const issuer = await discovered(oidc);
  return issuer.ok ? verifiedEmail(call, oidc, issuer.value, kept.value) : issuer;
}

/** Of two cookies with the name, one was planted. */
function roundTicket({ request, place }: ConsoleCall): Result<string, ConsoleError> {
  const [ticket, second] = cookieValues(request, roundCookieName(place));
  return ticket === undefined || second !== undefined ? failed({ kind: 'sign-in-late' }) : ok(ticket);
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
    return refused(`did not confirm the sign-in (${whyOf(error)})`);
  }
}

async function discovered(oidc: OidcSettings): Promise<Result<Issuer, ConsoleError>> {
  const issuer = new URL(oidc.issuer);
  try {
    const document = await processDiscoveryResponse(issuer, await discoveryRequest(issuer, requestOptions(oidc)));
    const read = endpoints.safeParse(document);
    if (!read.success) return refused('has no endpoints that can be used');
    return ok({ ...document, authorization_endpoint: read.data.authorization_endpoint });
  } catch (error) {
    return refused(`is not the issuer that OIDC_ISSUER names (${whyOf(error)})`);
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
    [customFetch]: providerFetch,
  };
}

function refused(why: string): { ok: false; error: ConsoleError } {
  return failed({ kind: 'provider-refused', provider: PROVIDER, why });
}

function redirectUri({ origin }: ConsolePlace): string {
  return `${origin}/console/auth/oidc/callback`;
}

function onwards(place: ConsolePlace, fragment: string, cookie: string): Response {
  return new Response(null, {
    status: 303,
    headers: {
      location: `${place.origin}/console#${fragment}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'set-cookie': cookie,
    },
  });
}

function roundCookieName({ cookieName }: ConsolePlace): string {
  return `${cookieName}-oidc`;
}

/** `Lax`, because the way back from the issuer begins on another site. */
function roundCookie(place: ConsolePlace, ticket: string, maxAgeSeconds = TICKET_VALID_MS / 1000): string {
  const secure = place.secure ? '; Secure' : '';
  return `${roundCookieName(place)}=${ticket}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`;
}
