/**
 * `POST /siteverify` (interface document 4.1, design 5). A verdict about the token is always 200; a mistake
 * of the caller is 400 or 401, so that a backend can tell "this visitor failed" from "we are set up
 * wrongly". `ip` and `email` count from the professional tier on.
 */
import { keyDay } from '../../../captcha/seal/keyring.ts';
import { openToken } from '../../../captcha/seal/sealed-token.ts';
import { visitorTag } from '../../../captcha/seal/visitor-tag.ts';
import { siteverifyRequest } from '../../../contract/captcha/siteverify.ts';
import type { SiteverifyAnswer, SiteverifyRequest } from '../../../contract/captcha/siteverify.ts';
import { behaviourOfSecret } from '../../../contract/captcha/test-keys.ts';
import { canonicalIp } from '../../../address/ip.ts';
import type { SiteRecord } from '../../../store/d1/sites.ts';
import { judgeToken, refused, spendKeyOf } from '../../../captcha/verify/judge-token.ts';
import type { Judgement, VerifyPorts, VerifyQuestion } from '../../../captcha/verify/judge-token.ts';
import { judgePolicy } from '../../../captcha/verify/verification-policy.ts';
import { paidTier, shapeAnswer } from '../../../verify/siteverify-response.ts';
import { parseWithSchema } from '../../http/body/parse-with-schema.ts';
import { readBody } from '../../http/body/read-body.ts';
import { ApiError } from '../../http/api-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { accessDemand } from '../access-rules/matching-access-rule.ts';
import { tellVerified } from '../captcha-events.ts';
import { captchaEngine } from '../captcha-engine.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import { isSpent, recall, spend } from '../../../store/spend-ledger/client/spend.ts';
import { testAnswer } from './test-secret-response.ts';

/** What a verification came to, before it takes the shape of one endpoint or another. */
export interface Verification {
  /** `null` for a test key, whose answer is fixed. */
  judgement: Judgement | null;
  answer: SiteverifyAnswer;
}

export async function siteverify(call: ServiceCall): Promise<SiteverifyAnswer> {
  const body = parseWithSchema(siteverifyRequest, await readBody(call.request));
  return (await verify(call, body)).answer;
}

/**
 * `siteKey`: of the site that the secret must be of, where the caller names one.
 * @throws 401 for a secret that is nobody's, 403 for a disabled account.
 */
export async function verify(call: ServiceCall, body: SiteverifyRequest, siteKey?: string): Promise<Verification> {
  const behaviour = behaviourOfSecret(body.secret);
  if (behaviour !== null) return { judgement: null, answer: await testAnswer(behaviour) };
  const engine = captchaEngine(call);
  const site = await engine.siteBySecret(body.secret, call.nowMs);
  if (site === null || !site.active) throw new ApiError('GENERAL.INVALID_SECRET_KEY', 'No active site has this secret');
  if (site.accountDisabled) throw new ApiError('API.ACCOUNT_DISABLED', 'The account is disabled');
  if (siteKey !== undefined && siteKey !== site.siteKey) {
    const judgement = refused('API.SITE_KEY_MISMATCH', null);
    return { judgement, answer: shapeAnswer(judgement, { tier: site.tier, audience: 'site' }) };
  }
  const question = questionOf(body, site);
  const scope = { tier: site.tier, audience: question.audience };
  const ports = verifyPorts(call, engine, site, (judgement) => JSON.stringify(shapeAnswer(judgement, scope)));
  const judgement = await judgeToken(site, body.secret, question, ports, call.nowMs);
  if (judgement.token?.siteKey === site.siteKey && judgement.replay === null) {
    tellVerified(call, site.accountId, judgement.token, judgement);
  }
  const answer =
    judgement.replay === null
      ? shapeAnswer(judgement, scope)
      : // Written by this very function, at most ten minutes ago.
        (JSON.parse(judgement.replay) as SiteverifyAnswer);
  return { judgement, answer };
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
      if (await refusedByRule(call, engine, site, question.ip)) {
        return { refusal: 'API.ACCESS_POLICY_BLOCK', notEvaluated: [] };
      }
      return judgePolicy(site.settings, token, question, {
        lookup: engine.addressLookup,
        tag: (kind, value, of) => visitorTag(engine.keyring, keyDay(of.bornAt), kind, value),
        async countMailbox(mailbox, limit) {
          // A token that cannot be spent is refused next; sent again and again it must not use up a mailbox.
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

/**
 * Whether an access control rule refuses the address that is verified for, by itself or at
 * verification. A rule engine that fails refuses too (design 8).
 */
async function refusedByRule(
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
    const matched = await accessDemand(call.store, site.accountId, visitor, call.nowMs);
    return matched !== null && (matched.demand.type === 'block' || matched.demand.deferToVerify === true);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(JSON.stringify({ event: 'access-rules-failed', requestId: call.requestId, message }));
    return true;
  }
}

/** `audience:jti`. */
function jtiOf(key: string): string {
  return key.slice(key.indexOf(':') + 1);
}

function questionOf(body: SiteverifyRequest, site: SiteRecord): VerifyQuestion {
  const paid = paidTier(site.tier);
  return {
    token: tokenOf(body.token),
    audience: body.audience ?? 'site',
    ip: body.ip === undefined ? null : paid ? canonicalAddress(body.ip) : null,
    email: paid ? (body.email ?? null) : null,
    action: body.action ?? null,
    hostname: body.hostname ?? null,
    level: body.level ?? null,
    idempotencyKey: body.idempotencyKey ?? null,
  };
}

/** The field's whole value `{"token": …}` is accepted too: forgetting to take it apart is easy. */
function tokenOf(given: string): string {
  // Copied by hand where there are no scripts: blanks come along.
  const text = given.trim();
  if (!text.startsWith('{')) return text;
  try {
    const { token } = JSON.parse(text) as { token?: unknown };
    return typeof token === 'string' ? token : text;
  } catch {
    return text;
  }
}

function canonicalAddress(text: string): string {
  const address = canonicalIp(text.trim());
  if (address === null) {
    throw new ApiError('API.INVALID_BODY', 'The body does not fit this endpoint', [
      { path: 'ip', message: 'is no IP address' },
    ]);
  }
  return address;
}
