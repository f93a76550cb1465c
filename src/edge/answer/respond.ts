/**
 * Makes every response of the edge's own from an `Answer`. Every one names its request, is stored by nothing on the
 * way, and can be read by browser code on another origin.
 */
import { encodeBase64url } from '../../bytes/base64url.ts';
import { CLEARANCE_ACTION } from '../../contract/captcha/challenge-constants.ts';
import { edgeErrorStatus, type EdgeErrorKey } from '../../contract/edge/edge-errors.ts';
import { exposedHeaders, header, protectPrefix } from '../../contract/edge/headers.ts';
import { isReference } from '../../contract/edge/short-reference.ts';
import type { ErrorEnvelope } from '../../contract/errors.ts';
import { assetHashes } from '../../widget/bundle.generated.ts';
import type { RequestContext } from '../decide/context.ts';
import type { PageTexts } from '../feed/page-texts.ts';
import { pageLoadNonce } from '../session/page-load.ts';
import { tellRefusedSession, tellWorkDue } from '../session/sessions.ts';
import type { HeaderFacts } from '../request/header-facts.ts';
import { answerForm, message, type Answer, type ChallengeExtras, type LimitedRequest } from './answer.ts';
import { renderBlockPage, renderHelpPage, renderMessagePage } from './pages/message-page.ts';
import { renderChallengePage } from './pages/challenge-page.ts';
import { type PageInput, pageSecurityHeaders } from './pages/page-layout.ts';
import { acceptSignature } from '../../bots/signatures/accept-signature.ts';
import { isProvedBot, PENDING_BUDGET } from '../../decide/policy-input.ts';
import { PENDING_WINDOW_MS } from '../limits/pending-budget.ts';

const CHARGED = 'This site charges bots. See crawler-price and Link.';
const API_BASE = protectPrefix.slice(0, -1);
const NONCE_BYTES = 16;
/** A retry sooner than this would find nothing changed. */
const RETRY_AFTER_SECONDS = 5;
/** A crawler may keep it for a day. A change of the policy should not wait so long in a proxy. */
const ROBOTS_FRESH_SECONDS = 300;
const YEAR_SECONDS = 31_536_000;

export function respond(context: RequestContext, answer: Answer, texts: PageTexts): Response | Promise<Response> {
  switch (answer.kind) {
    case 'challenge':
      return challenged(context, answer, texts);
    case 'block':
    case 'message':
      return inForm(context, formsOf(context, answer), texts);
    case 'no-session':
      return noSession(context, texts);
    case 'help':
      return page(context, 200, texts, (input) => renderHelpPage({ ...input, requestId: refusedRequest(context) }));
    case 'limited':
      return limited(context, answer, texts);
    case 'error':
      return json(context, edgeErrorStatus[answer.key], errorEnvelope(answer.key, answer.reason), retryAfter(answer));
    case 'json':
      return json(context, answer.status, answer.body);
    case 'text':
      return text(context, answer.status, answer.text);
    case 'redirect':
      return redirect(context, answer);
    case 'robots':
      return robots(context, answer.text);
    case 'script':
      return script(context, answer);
  }
}

/** Without a script, nothing but time helps where the pages of a network are used up: each address has a reserve. */
async function challenged(context: RequestContext, extras: ChallengeExtras, texts: PageTexts): Promise<Response> {
  const response = await inForm(context, challengeForms(context, extras), texts);
  if (isPastBudget(context)) response.headers.set('retry-after', String(PENDING_WINDOW_MS / 1000));
  return response;
}

function isPastBudget({ verdict }: RequestContext): boolean {
  return verdict.decidedBy === `policy:${PENDING_BUDGET}`;
}

const TOO_MANY = message('too-many', 'API.RATE_LIMITED', 'Too many requests. Try again later.');

/** `RateLimit` and `RateLimit-Policy` as of draft-ietf-httpapi-ratelimit-headers-11. */
async function limited(context: RequestContext, answer: LimitedRequest, texts: PageTexts): Promise<Response> {
  const { name, count, windowSeconds, countsRequests, retryAfterSeconds } = answer;
  const response = await inForm(context, formsOf(context, TOO_MANY), texts);
  const { headers } = response;
  headers.set('retry-after', String(retryAfterSeconds));
  if (countsRequests) {
    headers.set('ratelimit-policy', `"${name}";q=${count};w=${windowSeconds}`);
    headers.set('ratelimit', `"${name}";r=0;t=${retryAfterSeconds}`);
  }
  return response;
}

/** One answer in each form it can take. Without a page, documents get JSON. */
interface Forms {
  status: number;
  line: string;
  body: object;
  render: ((input: PageInput) => string) | null;
}

type FormedAnswer = Extract<Answer, { kind: 'block' | 'message' }>;

function formsOf(context: RequestContext, answer: FormedAnswer): Forms {
  switch (answer.kind) {
    case 'block':
      if (context.verdict.isCharged) return errorForms('API.CRAWL_CHARGED', CHARGED, CHARGED, renderBlockPage);
      return errorForms('API.ACCESS_POLICY_BLOCK', 'This request was blocked.', 'Blocked', renderBlockPage);
    case 'message': {
      const { key, reason } = answer;
      return errorForms(key, reason, reason, (input) => renderMessagePage(answer.page, input));
    }
  }
}

function errorForms(key: EdgeErrorKey, reason: string, line: string, render: Forms['render']): Forms {
  return { status: edgeErrorStatus[key], line, body: errorEnvelope(key, reason), render };
}

const SOLVE = 'Solve the challenge, then send the request again with the cookie that it gives.';

/** The JSON has everything that a client needs to solve the challenge: the protect script, an app, or any other. */
function challengeForms(context: RequestContext, extras: ChallengeExtras): Forms {
  const { config, facts, verdict } = context;
  const siteKey = config?.siteKey ?? '';
  const level = Math.max(config?.policy.clearanceLevel ?? 0, verdict.levelWanted);
  const challenge = {
    siteKey,
    api: API_BASE,
    action: CLEARANCE_ACTION,
    level,
    requestId: facts.requestId,
  };
  const opensSession = !['active', 'waived', 'off'].includes(verdict.sessionStatus);
  const loadNonce = config === null ? '' : pageLoadNonce(facts, config, verdict.sessionStatus);
  const envelope = errorEnvelope('API.CHALLENGE_REQUIRED', SOLVE);
  return {
    status: 403,
    line: 'Challenge required',
    body: { ...envelope, challenge },
    render: (input) => {
      const returnTo = facts.target.received;
      return renderChallengePage({
        ...input,
        ...extras,
        siteKey,
        level,
        returnTo,
        opensSession,
        loadNonce,
        hasPagesLater: isPastBudget(context),
      });
    },
  };
}

const NO_SESSION =
  'This path needs a session. A page of this site opens one by its protect script, with JavaScript and cookies. ' +
  'Or open this address in a browser: the page that comes opens one as well.';
const SCRIPT_BLOCKED =
  'This path needs a session. This browser solved a challenge but opened no session, so its script was blocked or ' +
  'failed: allow it for this site. Or open this address in a browser and solve the challenge again.';

/** Browsers without `Sec-Fetch-Dest` name html first. Programs that call a json path do not. */
function isOpenedInTab({ method, fetchDest, accept }: HeaderFacts): boolean {
  if (method !== 'GET') return false;
  return fetchDest === 'document' || (fetchDest === null && accept?.startsWith('text/html') === true);
}

/** The reason and the way in. In a tab, such a path shows the challenge page, which opens a session and returns. */
function noSession(context: RequestContext, texts: PageTexts): Response | Promise<Response> {
  const { facts, verdict } = context;
  const { render } = challengeForms(context, {});
  if (render && isOpenedInTab(facts.headers)) return page(context, 401, texts, render);
  const { requestId } = facts;
  const session = { reason: verdict.status ?? 'no-session', api: API_BASE, script: `${protectPrefix}protect.js` };
  const hasSolved = context.clearance !== null && context.clearance.powDifficulty > 0;
  const forms = errorForms('API.NO_SESSION', hasSolved ? SCRIPT_BLOCKED : NO_SESSION, 'No session', null);
  return inForm(context, { ...forms, body: { ...forms.body, session, requestId } }, texts);
}

function inForm(context: RequestContext, forms: Forms, texts: PageTexts): Response | Promise<Response> {
  const form = answerForm(context);
  if (form === 'text') return text(context, forms.status, forms.line);
  if (form === 'page' && forms.render) return page(context, forms.status, texts, forms.render);
  return json(context, forms.status, { ...forms.body, requestId: context.facts.requestId });
}

/** The reference that the block page's link carries, so that the help page repeats it and not its own. */
function refusedRequest({ facts }: RequestContext): string {
  const reference = new URLSearchParams(facts.target.query).get('reference') ?? '';
  return isReference(reference) ? reference : facts.requestId;
}

function redirect(context: RequestContext, answer: Extract<Answer, { kind: 'redirect' }>): Response {
  const { location, waitSeconds, status = 303 } = answer;
  return waitSeconds > 0
    ? make(context, 200, null, { refresh: `${waitSeconds};url=${location}` })
    : make(context, status, null, { location });
}

/**
 * A browser script. Asked for by its content hash it never changes and may be stored for a year, so it carries nothing
 * of the request but its id and decision.
 */
function script({ facts, verdict }: RequestContext, answer: Extract<Answer, { kind: 'script' }>): Response {
  const { request, requestId } = facts;
  const etag = `"${answer.hash}"`;
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': answer.isNamedByHash ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache',
    etag,
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    [header.requestId]: requestId,
    [header.decision]: verdict.decision,
  };
  if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers });
  return new Response(request.method === 'HEAD' ? null : answer.body, { headers });
}

/** The same for every visitor, so it carries nothing of the request but its id and decision. */
function robots({ facts, verdict }: RequestContext, body: string): Response {
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': `public, max-age=${ROBOTS_FRESH_SECONDS}`,
    'x-content-type-options': 'nosniff',
    [header.requestId]: facts.requestId,
    [header.decision]: verdict.decision,
  };
  return new Response(facts.request.method === 'HEAD' ? null : body, { headers });
}

async function page(
  context: RequestContext,
  status: number,
  texts: PageTexts,
  render: (input: PageInput) => string,
): Promise<Response> {
  const { facts, config } = context;
  const acceptLanguage = facts.request.headers.get('accept-language');
  const languages = await texts.wanted(acceptLanguage);
  const nonce = newNonce();
  const branding = config?.policy.branding ?? {};
  const style = config?.pageStyle ?? '';
  const body = render({
    nonce,
    requestId: facts.requestId,
    acceptLanguage,
    languages,
    branding,
    style,
    host: facts.target.host,
    assetHashes,
  });
  const security = pageSecurityHeaders(nonce, branding.logoUrl);
  const vary = `${security['vary'] ?? ''}, Origin, Sec-Fetch-Dest`;
  const response = make(context, status, body, { ...security, vary });
  tellRefusedSession(response.headers, context.verdict.sessionStatus);
  return response;
}

function errorEnvelope(key: EdgeErrorKey, reason: string): ErrorEnvelope {
  return { error: { code: edgeErrorStatus[key], message: reason, key } };
}

function json(context: RequestContext, status: number, body: object, extra: Record<string, string> = {}): Response {
  return make(context, status, JSON.stringify(body), {
    'content-type': 'application/json; charset=utf-8',
    vary: 'Cookie, User-Agent, Origin, Sec-Fetch-Dest',
    ...extra,
  });
}

function text(context: RequestContext, status: number, line: string): Response {
  return make(context, status, `${line}\nReference: ${context.facts.requestId}\n`, {
    'content-type': 'text/plain; charset=utf-8',
    vary: 'Cookie, User-Agent, Origin',
  });
}

function retryAfter({ retryAfterSeconds }: { retryAfterSeconds?: number }): Record<string, string> {
  return retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
}

function make(context: RequestContext, status: number, body: string | null, extra: Record<string, string>): Response {
  const { facts, verdict, cookies, effects } = context;
  const { request, requestId } = facts;
  const headers = new Headers({
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'x-content-type-options': 'nosniff',
    ...extra,
  });
  headers.set(header.requestId, requestId);
  headers.set(header.decision, verdict.decision);
  for (const [name, value] of botHeaders(context)) headers.set(name, value);
  if (verdict.status) headers.set(header.status, verdict.status);
  if (status === 503) headers.set('retry-after', String(RETRY_AFTER_SECONDS));
  // Another origin's page may read these answers: without that it could not solve, and they hold nothing secret.
  const origin = request.headers.get('origin');
  if (origin !== null) {
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-expose-headers', exposedHeaders.join(', '));
    if (origin !== 'null') headers.set('access-control-allow-credentials', 'true');
  }
  for (const value of cookies) headers.append('set-cookie', value);
  tellWorkDue(headers, effects);
  return new Response(request.method === 'HEAD' ? null : body, { status, headers });
}

function newNonce(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  return encodeBase64url(bytes);
}

/** What a refusal tells a bot: how it could prove who it is, and what it would have to pay. */
export function botHeaders({ facts, verdict, config }: RequestContext): [name: string, value: string][] {
  const { bot, decision, isCharged } = verdict;
  if (decision === 'allow') return [];
  const { headers } = facts.request;
  // Who signs, or names an agent, is asked for a signature too, whatever is wrong with the one that they sent.
  const isAsked =
    !isProvedBot(bot) && (bot !== null || headers.has('signature-agent') || headers.has('signature-input'));
  const charge = isCharged ? config?.policy.botPolicy.charge : null;
  const nonce = config?.policy.botPolicy.signatures.nonce === 'once' ? crypto.randomUUID() : null;
  return [
    ...(isAsked ? [['accept-signature', acceptSignature(nonce)] satisfies [string, string]] : []),
    ...(charge
      ? ([
          ['crawler-price', charge.price],
          ['link', `<${charge.licenseUrl}>; rel="license"`],
        ] satisfies [string, string][])
      : []),
  ];
}
