/**
 * Verdicts into bytes (design 3.2). Which form an answer takes is decided by the path's declared type
 * and by `Sec-Fetch-Dest`, never by `Accept`; every answer names its request, is stored by nobody,
 * and can be read by browser code on another origin.
 */
import { encodeBase64url } from '../../bytes/base64url.ts';
import { CLEARANCE_ACTION } from '../../contract/captcha/challenge-terms.ts';
import { edgeErrorStatus } from '../../contract/edge/edge-errors.ts';
import type { EdgeErrorKey } from '../../contract/edge/edge-errors.ts';
import type { ErrorEnvelope } from '../../contract/errors.ts';
import { exposedHeaders, header } from '../../contract/edge/headers.ts';
import { assetHashes } from '../../widget/bundle.generated.ts';
import { renderBlockPage } from './pages/block-page.ts';
import { renderChallengePage } from './pages/challenge-page.ts';
import type { ChallengePageInput } from './pages/challenge-page.ts';
import { renderMessagePage } from './pages/message-page.ts';
import type { MessageKind } from './pages/message-page.ts';
import { englishPages } from '../../locales/english-pages.generated.ts';
import type { PageInput } from './pages/page-input.ts';
import { pageSecurityHeaders } from './pages/security-headers.ts';
import type { Passage } from '../request/passage.ts';
import { errorVerdict } from '../decide/verdict.ts';

export const API_BASE = '/__protect';
const NONCE_BYTES = 16;
/** A retry sooner than this would find nothing changed. */
const RETRY_AFTER_SECONDS = 5;

export type ChallengeExtras = Pick<ChallengePageInput, 'replay' | 'noScript' | 'notice'>;

export async function challenge(passage: Passage, extras: ChallengeExtras = {}): Promise<Response> {
  const form = answerForm(passage);
  if (form === 'text') return text(passage, 403, 'Challenge required');
  if (form === 'json') return challengeJson(passage);
  const page = (input: PageInput) =>
    renderChallengePage({
      ...input,
      siteKey: passage.config?.siteKey ?? '',
      returnTo: passage.target?.received ?? '/',
      assetHashes,
      apiBase: API_BASE,
      ...extras,
    });
  return html(passage, 403, page);
}

export async function block(passage: Passage): Promise<Response> {
  switch (answerForm(passage)) {
    case 'text':
      return text(passage, 403, 'Blocked');
    case 'json':
      return jsonError(passage, 'API.ACCESS_POLICY_BLOCK', 'This request was blocked.');
    case 'page':
      return html(passage, 403, renderBlockPage);
  }
}

export function noSession(passage: Passage): Response {
  return answerForm(passage) === 'text'
    ? text(passage, 401, 'No session')
    : jsonError(passage, 'API.NO_SESSION', 'This path asks for a session; open one and send the request again.');
}

/** What became of a request that the gate could not carry on; `key` names it for clients. */
export async function message(
  passage: Passage,
  kind: MessageKind,
  key: EdgeErrorKey,
  reason: string,
): Promise<Response> {
  const code = edgeErrorStatus[key];
  switch (answerForm(passage)) {
    case 'text':
      return text(passage, code, reason);
    case 'json':
      return jsonError(passage, key, reason);
    case 'page':
      return html(passage, code, (input) => renderMessagePage(kind, input));
  }
}

/** More challenged submissions at once than this isolate can hold; a moment later there is room. */
export function noRoom(passage: Passage): Promise<Response> {
  return message(passage, 'send-again', 'API.UNAVAILABLE', 'Too much is being sent at once; send it again.');
}

/** Not a request for a path of a host: there is no path type to answer by. */
export function badRequest(passage: Passage): Response {
  return text(passage, 400, 'Bad request');
}

/** A name that the instance's `hosts` does not list (RFC 9110 15.5.20). */
export function foreignHost(passage: Passage): Response {
  passage.verdict = errorVerdict('block', 'The instance does not answer for this host.', 'policy', 'policy:hosts');
  return text(passage, 421, 'This gate does not answer for this host');
}

export function jsonError(passage: Passage, key: EdgeErrorKey, reason: string): Response {
  return json(passage, edgeErrorStatus[key], errorEnvelope(key, reason));
}

function errorEnvelope(key: EdgeErrorKey, reason: string): ErrorEnvelope {
  return { error: { code: edgeErrorStatus[key], message: reason, key } };
}

export function json(passage: Passage, status: number, body: object): Response {
  return answer(passage, status, JSON.stringify(body), {
    'content-type': 'application/json; charset=utf-8',
    vary: 'Cookie, User-Agent, Origin, Sec-Fetch-Dest',
  });
}

/** All that a client needs to solve, whatever it is: the protect script, an app, a script of someone's own. */
function challengeJson(passage: Passage): Response {
  const { config, requestId } = passage;
  return json(passage, 403, {
    ...errorEnvelope('API.CHALLENGE_REQUIRED', 'Solve the challenge, then send the request again.'),
    challenge: {
      siteKey: config?.siteKey ?? '',
      api: API_BASE,
      action: CLEARANCE_ACTION,
      level: config?.policy.clearanceLevel ?? 0,
      requestId,
    },
  });
}

export function answerForm({ request, headers, path }: Passage): 'page' | 'json' | 'text' {
  if (request.headers.get('upgrade')?.toLowerCase() === 'websocket') return 'text';
  if (path?.pathType === 'json') return 'json';
  const destination = headers.fetchDestination;
  return destination === null || destination === 'document' || destination === 'iframe' ? 'page' : 'json';
}

async function html(passage: Passage, status: number, render: (input: PageInput) => string): Promise<Response> {
  const acceptLanguage = passage.request.headers.get('accept-language');
  const languages = (await passage.pageTexts?.wanted(acceptLanguage)) ?? { en: englishPages };
  const nonce = newNonce();
  const branding = passage.config?.policy.branding ?? {};
  const body = render({
    nonce,
    requestId: passage.requestId,
    acceptLanguage,
    languages,
    branding,
  });
  const security = pageSecurityHeaders(nonce, branding.logoUrl);
  return answer(passage, status, body, { ...security, vary: `${security['vary'] ?? ''}, Origin, Sec-Fetch-Dest` });
}

function text(passage: Passage, status: number, body: string): Response {
  return answer(passage, status, `${body}\nReference: ${passage.requestId}\n`, {
    'content-type': 'text/plain; charset=utf-8',
    vary: 'Cookie, User-Agent, Origin',
  });
}

export function answer(passage: Passage, status: number, body: string | null, extra: Record<string, string>): Response {
  const { request, verdict, requestId } = passage;
  const headers = new Headers({
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'x-content-type-options': 'nosniff',
    ...extra,
  });
  headers.set(header.requestId, requestId);
  headers.set(header.decision, verdict?.decision ?? 'allow');
  if (verdict?.status) headers.set(header.status, verdict.status);
  if (status === 503) headers.set('retry-after', String(RETRY_AFTER_SECONDS));
  // Nothing in these answers is worth keeping from another origin; unread, its page could not solve.
  const origin = request.headers.get('origin');
  if (origin !== null) {
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-expose-headers', exposedHeaders.join(', '));
    if (origin !== 'null') headers.set('access-control-allow-credentials', 'true');
  }
  for (const value of passage.cookies) headers.append('set-cookie', value);
  return new Response(request.method === 'HEAD' ? null : body, { status, headers });
}

function newNonce(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
}
