/**
 * `POST /siteverify`. A verdict about a token is always 200. A mistake of the caller is 400 or 401, so that a backend
 * can tell "this visitor failed" from "our configuration is wrong". `ip` and `email` count from the professional tier
 * on.
 */
import { canonicalIp } from '../../../address/ip.ts';
import { keyDay } from '../../../captcha/seal/keyring.ts';
import { openToken, type SealedToken } from '../../../captcha/seal/sealed-token.ts';
import { visitorTag } from '../../../captcha/seal/visitor-tag.ts';
import {
  type Judgement,
  judgeToken,
  refused,
  spendKeyOf,
  type VerifyPorts,
  type VerifyQuestion,
} from '../../../captcha/verify/judge-token.ts';
import { isDerivedKey } from '../../../captcha/verify/derived-key.ts';
import { judgePolicy } from '../../../captcha/verify/verification-policy.ts';
import { TOKEN_MAX_CHARS } from '../../../contract/captcha/challenge-constants.ts';
import {
  type SiteverifyRequest,
  siteverifyRequest,
  type SiteverifyResponse,
} from '../../../contract/captcha/siteverify.ts';
import { behaviourOfSecret } from '../../../contract/captcha/test-keys.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { SiteRecord } from '../../../store/d1/sites.ts';
import { isSpent, recall, spend } from '../../../store/spend-ledger/client/spend.ts';
import { paidTier, type ResponseScope, siteverifyResponseOf } from '../../../verify/siteverify-response.ts';
import { readBodyAs } from '../../http/body/read-body.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import type { BodyError, CaptchaRouteError } from '../../http/service-error.ts';
import { type CaptchaEngine, captchaEngine } from '../captcha-engine.ts';
import { recordVerified } from '../captcha-events.ts';
import { noteBackendVerified } from '../first-use.ts';
import { captchaVisitor, withKnownFacts } from '../visitor.ts';
import { type EdgeJudgement, judgeForBackend, judgeForEdge, type Presented } from './judge.ts';
import { testSecretResponse } from './test-secret-response.ts';

/** The result of a verification, before an endpoint gives it its own form. */
export interface Verification {
  /** `null` for a test secret, whose response is fixed. */
  judgement: Judgement | null;
  answer: SiteverifyResponse;
}

/**
 * Anyone can call this without a secret, so what no backend sends is refused before it is parsed: more than a few fields,
 * or more bytes than the longest token and as much again for the others.
 */
export const VERIFY_LIMITS = { maxBytes: 2 * TOKEN_MAX_CHARS, maxFields: 100 };

export async function siteverify(call: ServiceCall): Promise<Result<SiteverifyResponse, CaptchaRouteError>> {
  const body = await readBodyAs(siteverifyRequest, call.request, VERIFY_LIMITS);
  if (!body.ok) return body;
  const presented = await presentedBy(call, body.value);
  if (!presented.ok) return presented;
  const verification = await verify(call, body.value, presented.value);
  return verification.ok ? ok(verification.value.answer) : verification;
}

/** The visitor that an edge describes, if one does. Any other caller who sends one is refused. */
async function presentedBy(
  call: ServiceCall,
  { visitor: described, sessionId, audience, idempotencyKey }: SiteverifyRequest,
): Promise<Result<Presented | null, CaptchaRouteError>> {
  if (described === undefined) return sessionId === undefined ? ok(null) : misplaced('sessionId', 'needs a visitor');
  if (audience !== 'edge') return misplaced('visitor', 'is for the audience edge');
  // Two visitors with one key would get one response.
  if (idempotencyKey !== undefined) return misplaced('idempotencyKey', 'cannot be combined with a visitor');
  const visitor = await captchaVisitor(call, described);
  if (!visitor.ok) return visitor;
  const { ip } = visitor.value;
  const known = ip === null ? null : (captchaEngine(call).addressLookup?.(ip) ?? null);
  return ok({ visitor: withKnownFacts(visitor.value, known), sessionId: sessionId ?? null });
}

function misplaced(path: string, message: string): Result<never, BodyError> {
  return failed({ kind: 'body-mismatch', details: [{ path, message }] });
}

/** `siteKey`: the site that the secret must belong to, if the caller names one. */
export async function verify(
  call: ServiceCall,
  body: Omit<SiteverifyRequest, 'visitor' | 'sessionId'>,
  presented: Presented | null = null,
  siteKey?: string,
): Promise<Result<Verification, CaptchaRouteError>> {
  const behaviour = behaviourOfSecret(body.secret);
  if (behaviour !== null) return ok({ judgement: null, answer: await testSecretResponse(behaviour) });
  const engine = captchaEngine(call);
  const site = await engine.siteBySecret(body.secret, call.nowMs);
  if (site === null || !site.active) return failed({ kind: 'site-secret-invalid' });
  if (site.accountDisabled) return failed({ kind: 'account-disabled' });
  const address = addressIn(body.ip);
  const scope: ResponseScope = {
    tier: site.tier,
    audience: body.audience ?? 'site',
    ignored: body.ip !== undefined && address === null ? ['ip'] : [],
  };
  if (siteKey !== undefined && siteKey !== site.siteKey) {
    const judgement = refused('API.SITE_KEY_MISMATCH', null);
    return ok({ judgement, answer: siteverifyResponseOf(judgement, scope) });
  }
  if (presented !== null && presented.visitor.edgeAccountId !== site.accountId) {
    return failed({ kind: 'site-of-another-account' });
  }
  const question = await questionOf(body, address, site);
  if (!question.ok) return question;
  const ports = verifyPorts(call, engine, { site, presented }, (judgement) =>
    JSON.stringify(siteverifyResponseOf(judgement, scope)),
  );
  const judgement = await judgeToken(site, body.secret, question.value, ports, call.nowMs);
  if (judgement.token?.siteKey === site.siteKey && judgement.replay === null) {
    const { verified, reason } = judgement;
    if (verified && scope.audience === 'site') noteBackendVerified(call, site);
    recordVerified(call, site.accountId, judgement.token, { verified, reason, userAccount: body.userAccount || null });
  }
  const answer =
    judgement.replay === null
      ? siteverifyResponseOf(judgement, scope)
      : // `render` above wrote this text, at most ten minutes ago.
        (JSON.parse(judgement.replay) as SiteverifyResponse);
  return ok({ judgement, answer });
}

function verifyPorts(
  call: ServiceCall,
  engine: CaptchaEngine,
  { site, presented }: { site: SiteRecord; presented: Presented | null },
  render: VerifyPorts['render'],
): VerifyPorts {
  const { store } = call;
  return {
    openToken: (text, nowMs) => openToken(engine.keyring, text, nowMs),
    async policy(token, question) {
      const { refusal, eased } = await judgedByRules(call, engine, { site, presented }, token, question);
      if (refusal !== null) return { refusal, notEvaluated: [] };
      const policy = await judgePolicy(site.settings, token, question, {
        lookup: engine.addressLookup,
        tag: (kind, value, of) => visitorTag(engine.keyring, keyDay(of.bornAt), kind, value),
        async countMailbox(mailbox, limit) {
          // A token that is spent already is refused next. Sending it again must not use up the limit of a mailbox.
          const spent = await isSpent(store, token.jti, spendKeyOf(question.audience, token.jti), token.bornAt);
          return spent || engine.countMailbox(site.siteKey, mailbox, limit);
        },
      });
      return { ...policy, eased };
    },
    spend: (request) => spend(call, jtiOf(request.key), request),
    recall: (key, bornAt, fingerprint) => recall(store, jtiOf(key), key, bornAt, fingerprint),
    render,
  };
}

/** What the access control rules say. An error of the rules refuses too. */
async function judgedByRules(
  call: ServiceCall,
  engine: CaptchaEngine,
  { site, presented }: { site: SiteRecord; presented: Presented | null },
  token: SealedToken,
  question: VerifyQuestion,
): Promise<EdgeJudgement> {
  try {
    if (presented !== null) return await judgeForEdge(call, site, token, presented);
    return { refusal: await judgeForBackend(call, engine, site, token, question), eased: false };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(JSON.stringify({ event: 'access-rules-failed', requestId: call.requestId, message }));
    return { refusal: 'API.ACCESS_POLICY_BLOCK', eased: false };
  }
}

/** `key` is `audience:jti`. */
function jtiOf(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

function addressIn(ip: SiteverifyRequest['ip']): string | null {
  return ip == null ? null : canonicalIp(ip.trim());
}

async function questionOf(
  body: Parameters<typeof verify>[1],
  address: string | null,
  site: SiteRecord,
): Promise<Result<VerifyQuestion, BodyError>> {
  const isPaid = paidTier(site.tier);
  const token = tokenOf(body.token);
  const { idempotencyKey = null } = body;
  if (idempotencyKey !== null && (await isDerivedKey(idempotencyKey, [token, body.token, JSON.stringify({ token })]))) {
    return misplaced('idempotencyKey', 'is derived from the token. Make a random key for each submission');
  }
  return ok({
    token,
    audience: body.audience ?? 'site',
    ip: isPaid ? address : null,
    email: isPaid && body.email?.trim() ? body.email : null,
    userAccount: body.userAccount || null,
    action: body.action ?? null,
    hostname: body.hostname ?? null,
    level: body.level ?? null,
    idempotencyKey,
  });
}

/** Accepts the whole value of the form field, `{"token": …}`, too: backends often forget to unpack it. */
function tokenOf(given: string): string {
  // Visitors without scripts copy the token by hand, often with spaces around it.
  const text = given.trim();
  if (!text.startsWith('{')) return text;
  try {
    const { token } = JSON.parse(text) as { token?: unknown };
    return typeof token === 'string' ? token : text;
  } catch {
    return text;
  }
}
