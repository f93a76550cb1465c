/**
 * The judgement behind `/siteverify` (design 5), as a straight line: seal, expiry, site, hostname,
 * action, level, policy, and the spend last. Whatever fails before the spend leaves the token as it
 * was, so that somebody who got hold of a token cannot burn it from another site.
 */
import { encodeFields, numberField, textField } from '../seal/field-encoding.ts';
import { sha256Hex } from '../../bytes/sha256-hex.ts';
import type { SealedToken } from '../seal/sealed-token.ts';
import { canonicalHostname, hostnameAllowed } from '../../contract/management/site-domain.ts';
import type { SiteSettings } from '../../contract/management/site-settings.ts';
import type { VerifyReason } from '../../contract/captcha/siteverify.ts';

/** What is asked about a token: the request of `/siteverify` after tier gating, without the secret. */
export interface VerifyQuestion {
  token: string;
  audience: 'site' | 'edge';
  ip: string | null;
  email: string | null;
  action: string | null;
  hostname: string | null;
  level: number | null;
  idempotencyKey: string | null;
}

export interface VerifySite {
  siteKey: string;
  settings: SiteSettings;
}

export interface PolicyVerdict {
  refusal: VerifyReason | null;
  /** Settings that nobody had the facts to judge. */
  notEvaluated: readonly string[];
}

/** The judgement's surroundings, passed in so that the line itself is plain and testable. */
export interface VerifyPorts {
  openToken(text: string, nowMs: number): Promise<SealedToken | null>;
  policy(token: SealedToken, question: VerifyQuestion): Promise<PolicyVerdict>;
  /** Atomic; `answer` is kept for the same `fingerprint`. */
  spend(request: {
    key: string;
    bornAt: number;
    fingerprint: string | null;
    answer: string;
  }): Promise<{ spent: boolean; replay: string | null }>;
  recall(key: string, bornAt: number, fingerprint: string): Promise<string | null>;
  /** Turns a judgement into the text that is kept and repeated. */
  render(judgement: Judgement): string;
}

export interface Judgement {
  verified: boolean;
  reason: VerifyReason | null;
  /** `null` when the seal did not open. */
  token: SealedToken | null;
  notEvaluated: readonly string[];
  /** The kept answer to the same question, to be sent instead of a new one. */
  replay: string | null;
}

/** @param secret the site's own, which a repeated question must carry again. */
export async function judgeToken(
  site: VerifySite,
  secret: string,
  question: VerifyQuestion,
  ports: VerifyPorts,
  nowMs: number,
): Promise<Judgement> {
  const token = await ports.openToken(question.token, nowMs);
  if (token === null) return refused('CAPTCHA.INVALID_TOKEN', null);
  const spendKey = spendKeyOf(question.audience, token.jti);
  const fingerprint = await fingerprintOf(secret, question);
  if (fingerprint !== null) {
    // Before expiry and policy: an answer given once stays the answer, though time has passed since.
    const replay = await ports.recall(spendKey, token.bornAt, fingerprint);
    if (replay !== null) return { verified: false, reason: null, token, notEvaluated: [], replay };
  }
  const mismatch = mismatchOf(site, token, question, nowMs);
  if (mismatch !== null) return refused(mismatch, token);
  const policy = await ports.policy(token, question);
  if (policy.refusal !== null) return { ...refused(policy.refusal, token), notEvaluated: policy.notEvaluated };
  const won: Judgement = { verified: true, reason: null, token, notEvaluated: policy.notEvaluated, replay: null };
  const result = await ports.spend({
    key: spendKey,
    bornAt: token.bornAt,
    fingerprint,
    answer: fingerprint === null ? '' : ports.render(won),
  });
  if (result.spent) return won;
  return { ...refused('API.USER_ALREADY_VERIFIED', token), replay: result.replay };
}

/** What is spent: a jti, once per audience. */
export function spendKeyOf(audience: VerifyQuestion['audience'], jti: string): string {
  return `${audience}:${jti}`;
}

/** The first demand that the token does not meet, in the documented order. */
function mismatchOf(
  site: VerifySite,
  token: SealedToken,
  question: VerifyQuestion,
  nowMs: number,
): VerifyReason | null {
  if (nowMs >= token.expiresAt) return 'API.TIMESTAMP_TOO_OLD';
  if (token.siteKey !== site.siteKey) return 'API.SITE_KEY_MISMATCH';
  if (!hostnameAllowed(token.hostname, site.settings.domains)) return 'API.UNAUTHORIZED_ORIGIN_URL';
  if (question.hostname !== null && canonicalHostname(question.hostname) !== token.hostname) {
    return 'API.UNAUTHORIZED_ORIGIN_URL';
  }
  if (question.action !== null && question.action !== token.action) return 'API.ACTION_MISMATCH';
  if (question.level !== null && token.level < question.level) return 'API.LEVEL_TOO_LOW';
  return null;
}

export function refused(reason: VerifyReason, token: SealedToken | null): Judgement {
  return { verified: false, reason, token, notEvaluated: [], replay: null };
}

/** Who asks the same thing under the same key gets the same answer; any other question does not. */
async function fingerprintOf(secret: string, question: VerifyQuestion): Promise<string | null> {
  if (question.idempotencyKey === null) return null;
  const fields = [
    secret,
    question.idempotencyKey,
    question.token,
    question.ip,
    question.email,
    question.action,
    question.hostname,
    question.level,
  ];
  const encoded = encodeFields(
    fields.flatMap((field) => {
      // A missing member and an empty one are different questions.
      if (field === null) return [numberField(0), textField('')];
      const bytes = textField(String(field));
      return [numberField(1), bytes];
    }),
  );
  return sha256Hex(encoded);
}
