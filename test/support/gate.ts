/**
 * A visitor of the gate over HTTP: their own network, a session at any risk, challenges and what they buy. Risk is minted
 * into the session's JWT with the stack's own key. A picture is solved by sealing the token that a person would get, so
 * that these tests judge what a token is worth, not how pictures are drawn.
 */
import { Keyring } from '../../src/captcha/seal/keyring.ts';
import { openChallenge } from '../../src/captcha/seal/sealed-challenge.ts';
import { levelOfLane, type SealedToken, sealToken } from '../../src/captcha/seal/sealed-token.ts';
import { visitorBinding } from '../../src/address/visitor-binding.ts';
import type { Stack } from '../../src/cli/stack.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { mintSessionJwt } from '../../src/risk/session-token.ts';
import { edgeKeySets } from '../../src/store/keys/edge-keys.ts';
import { deriveKey } from '../../src/store/keys/master-key.ts';
import { cookiesOf, signalsOf } from '../e2e/edge-visitor.ts';
import { browse, type BrowseInit, FIREFOX } from './browse.ts';
import { eventually } from './eventually.ts';
import { solveWork } from './session.ts';
import { stackNow } from './clock.ts';

export type Headers = Record<string, string>;
export interface Answer<Body = Record<string, unknown>> {
  status: number;
  body: Body;
  /** `name=value` of every cookie that it sets. */
  cookie: string;
}

let networks = 0;
/** A visitor in a network of their own, so that no test raises another's price. */
export function newVisitor(stack: Stack, ip = `10.${++networks}.0.1`): Headers {
  return { 'user-agent': FIREFOX, ...signalsOf(stack, { from: ip, country: 'DE', asn: '64496' }) };
}

/** With another cookie beside those that the visitor has. */
export function withCookie(headers: Headers, cookie: string): Headers {
  return { ...headers, cookie: [headers['cookie'], cookie].filter(Boolean).join('; ') };
}

/** The visitor with a session of this risk, whose id is `jti`. */
export async function atRisk(stack: Stack, headers: Headers, risk: number, jti = crypto.randomUUID()) {
  const { current } = await edgeKeySets(await stack.rootKey(), stack.instanceId, stackNow());
  const iat = Math.floor(stackNow() / 1000);
  const bnd = await visitorBinding(headers['x-client-ip'] ?? null, headers['user-agent'] ?? '');
  const claims = { jti, sub: stack.instanceId, iat, exp: iat + 300, sxp: iat + 3600, risk, bnd };
  const jwt = await mintSessionJwt(Buffer.from(current.session, 'base64url'), current.kid, claims);
  return withCookie(headers, `protect_session=${jti}|${jwt}`);
}

export function page(stack: Stack, headers: Headers, path: string, init: BrowseInit = {}): Promise<Response> {
  return browse(stack.edgeUrl + path, { ...init, headers: { ...headers, ...init.headers } });
}

export async function call<Body = Record<string, unknown>>(
  url: string,
  headers: Headers,
  body: object,
): Promise<Answer<Body>> {
  const sent = { ...headers, 'content-type': 'application/json' };
  const response = await browse(url, { method: 'POST', headers: sent, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Body, cookie: cookiesOf(response) };
}

/** A challenge for clearance, through the edge. */
export async function challengeFor(stack: Stack, headers: Headers, asked: object = {}): Promise<ChallengeResponse> {
  const url = `${stack.edgeUrl}/__protect/challenge`;
  const { status, body } = await call<ChallengeResponse>(url, headers, { action: 'clearance', ...asked });
  if (status === 503) throw new Unanswered(`no challenge: ${status} ${JSON.stringify(body)}`);
  if (status !== 200) throw new Error(`no challenge: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** The token of a challenge of any kind. */
export async function tokenOf(stack: Stack, headers: Headers, challenge: ChallengeResponse): Promise<string> {
  if (challenge.kind !== 'pow') return personsToken(stack, challenge.challenge);
  const solution = await solveWork(challenge.pow!);
  const sent = { challenge: challenge.challenge, solution };
  const { status, body } = await call<SolutionResponse>(`${stack.edgeUrl}/__protect/solution`, headers, sent);
  if (status === 503) throw new Unanswered(`not solved: ${JSON.stringify(body)}`);
  if (body.token === undefined) throw new Error(`not solved: ${JSON.stringify(body)}`);
  return body.token;
}

/**
 * What the visitor gets for a challenge through the edge. An edge waits two seconds for the service and then answers 503: a
 * page offers to try again, with a new challenge.
 */
export async function boughtToken(stack: Stack, headers: Headers, asked: object = {}): Promise<string> {
  const attempt = async (): Promise<string | Unanswered> => {
    try {
      return await tokenOf(stack, headers, await challengeFor(stack, headers, asked));
    } catch (error) {
      if (error instanceof Unanswered) return error;
      throw error;
    }
  };
  return (await eventually(attempt, (got) => typeof got === 'string')) as string;
}

/** The edge had no answer of the service in time. */
class Unanswered extends Error {
  override readonly name = 'Unanswered';
}

/** The token that a person gets who solves this challenge. */
export async function personsToken(stack: Stack, sealed: string, changes: Partial<SealedToken> = {}): Promise<string> {
  const root = await stack.rootKey();
  const keyring = new Keyring((label) => deriveKey(root, label));
  const opened = await openChallenge(keyring, sealed, stackNow());
  if (opened === null) throw new Error('the challenge did not open');
  const { issuedAt: _, expiresAt: __, round: ___, params: ____, ...course } = opened.challenge;
  const times = { issuedAt: course.bornAt, solvedAt: stackNow(), expiresAt: stackNow() + 120_000 };
  return sealToken(keyring, { ...course, level: levelOfLane(course.lane), ...times, ...changes });
}

export const verify = (stack: Stack, headers: Headers, token: string): Promise<Answer> =>
  call(`${stack.edgeUrl}/__protect/verify`, headers, { token });
