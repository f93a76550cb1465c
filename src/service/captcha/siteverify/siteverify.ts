/**
 * `POST /siteverify`. A verdict about a token is always 200. A mistake of the caller is 400 or 401, so that a backend
 * can tell "this visitor failed" from "our configuration is wrong". `ip` and `email` count from the professional tier
 * on.
 */
import { canonicalIp } from '../../../address/ip.ts';
import { keyDay } from '../../../captcha/seal/keyring.ts';
import { openToken } from '../../../captcha/seal/sealed-token.ts';
import { visitorTag } from '../../../captcha/seal/visitor-tag.ts';
import { judgeToken, refused, spendKeyOf } from '../../../captcha/verify/judge-token.ts';
import type { Judgement, VerifyPorts, VerifyQuestion } from '../../../captcha/verify/judge-token.ts';
import { judgePolicy } from '../../../captcha/verify/verification-policy.ts';
import { siteverifyRequest } from '../../../contract/captcha/siteverify.ts';
import type { SiteverifyResponse, SiteverifyRequest } from '../../../contract/captcha/siteverify.ts';
import { behaviourOfSecret } from '../../../contract/captcha/test-keys.ts';
import { failed, ok } from '../../../result.ts';
import type { Result } from '../../../result.ts';
import type { SiteRecord } from '../../../store/d1/sites.ts';
import { isSpent, recall, spend } from '../../../store/spend-ledger/client/spend.ts';
import { paidTier, siteverifyResponseOf } from '../../../verify/siteverify-response.ts';
import { readBodyAs } from '../../http/body/read-body.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import type { BodyError, CaptchaRouteError } from '../../http/service-error.ts';
import { matchingAccessRule } from '../access-rules/matching-access-rule.ts';
import { captchaEngine } from '../captcha-engine.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import { recordVerified } from '../captcha-events.ts';
import { testSecretResponse } from './test-secret-response.ts';

/** The result of a verification, before an endpoint gives it its own form. */
export interface Verification {
  /** `null` for a test secret, whose response is fixed. */
  judgement: Judgement | null;
  answer: SiteverifyResponse;
}

export async function siteverify(call: ServiceCall): Promise<Result<SiteverifyResponse, CaptchaRouteError>> {
  const body = await readBodyAs(siteverifyRequest, call.request);
  if (!body.ok) return body;
  const verification = await verify(call, body.value);
  return verification.ok ? ok(verification.value.answer) : verification;
}

/** `siteKey`: the site that the secret must belong to, if the caller names one. */
export async function verify(
  call: ServiceCall,
  body: SiteverifyRequest,
  siteKey?: string,
): Promise<Result<Verification, CaptchaRouteError>> {
  const behaviour = behaviourOfSecret(body.secret);
  if (behaviour !== null) return ok({ judgement: null, answer: await testSecretResponse(behaviour) });
  const engine = captchaEngine(call);
  const site = await engine.siteBySecret(body.secret, call.nowMs);
  if (site === null || !site.active) return failed({ kind: 'site-secret-invalid' });
  if (site.accountDisabled) return failed({ kind: 'account-disabled' });
  if (siteKey !== undefined && siteKey !== site.siteKey) {
    const judgement = refused('API.SITE_KEY_MISMATCH', null);
    return ok({ judgement, answer: siteverifyResponseOf(judgement, { tier: site.tier, audience: 'site' }) });
  }
  const question = questionOf(body, site);
  if (!question.ok) return question;
  const scope = { tier: site.tier, audience: question.value.audience };
  const ports = verifyPorts(call, engine, site, (judgement) => JSON.stringify(siteverifyResponseOf(judgement, scope)));
  const judgement = await judgeToken(site, body.secret, question.value, ports, call.nowMs);
  if (judgement.token?.siteKey === site.siteKey && judgement.replay === null) {
    recordVerified(call, site.accountId, judgement.token, judgement);
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
  site: SiteRecord,
  render: VerifyPorts['render'],
): VerifyPorts {
  const { store } = call;
  return {
    openToken: (text, nowMs) => openToken(engine.keyring, text, nowMs),
    async policy(token, question) {
      if (await isRefusedByRule(call, engine, site, question.ip)) {
        return { refusal: 'API.ACCESS_POLICY_BLOCK', notEvaluated: [] };
      }
      return judgePolicy(site.settings, token, question, {
        lookup: engine.addressLookup,
        tag: (kind, value, of) => visitorTag(engine.keyring, keyDay(of.bornAt), kind, value),
        async countMailbox(mailbox, limit) {
          // A token that is spent already is refused next. Sending it again must not use up the limit of a mailbox.
          const spent = await isSpent(store, token.jti, spendKeyOf(question.audience, token.jti), token.bornAt);
          return spent || engine.countMailbox(site.siteKey, mailbox, limit);
        },
      });
    },
    spend: (request) => spend(call, jtiOf(request.key), request),
    recall: (key, bornAt, fingerprint) => recall(store, jtiOf(key), key, bornAt, fingerprint),
    render,
  };
}

/** Whether an access control rule refuses the address, in general or at verification. An error of the rules refuses too. */
async function isRefusedByRule(
  call: ServiceCall,
  engine: CaptchaEngine,
  site: SiteRecord,
  ip: string | null,
): Promise<boolean> {
  if (ip === null) return false;
  const facts = engine.addressLookup?.(ip) ?? null;
  const visitor = {
    ip,
    userId: null,
    ja4: null,
    userAgent: '',
    country: facts?.country ?? null,
    asn: facts?.asn ?? null,
  };
  try {
    const matched = await matchingAccessRule(call.store, site.accountId, visitor, call.nowMs);
    return matched !== null && (matched.demand.type === 'block' || matched.demand.deferToVerify === true);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(JSON.stringify({ event: 'access-rules-failed', requestId: call.requestId, message }));
    return true;
  }
}

/** `key` is `audience:jti`. */
function jtiOf(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

function questionOf(body: SiteverifyRequest, site: SiteRecord): Result<VerifyQuestion, BodyError> {
  const isPaid = paidTier(site.tier);
  const ip = isPaid && body.ip !== undefined ? canonicalIp(body.ip.trim()) : null;
  if (isPaid && body.ip !== undefined && ip === null) {
    return failed({ kind: 'body-mismatch', details: [{ path: 'ip', message: 'is not an IP address' }] });
  }
  return ok({
    token: tokenOf(body.token),
    audience: body.audience ?? 'site',
    ip,
    email: isPaid ? (body.email ?? null) : null,
    action: body.action ?? null,
    hostname: body.hostname ?? null,
    level: body.level ?? null,
    idempotencyKey: body.idempotencyKey ?? null,
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
