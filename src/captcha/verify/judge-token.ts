/**
 * Judges a token for `/siteverify`, in one straight line: seal, expiry, site, hostname, action, level, policy, and the
 * spend last. A check that fails before the spend leaves the token unspent, so that an attacker who has a token cannot
 * burn it from another site.
 */
import { encodeFields, numberField, textField } from '../seal/field-encoding.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import type { SealedFacts } from '../seal/sealed-facts.ts';
import type { SealedToken } from '../seal/sealed-token.ts';
import { CLEARANCE_ACTION } from '../../contract/captcha/challenge-constants.ts';
import { canonicalHostname, hostnameAllowed } from '../../contract/management/site-domain.ts';
import type { SiteSettings } from '../../contract/management/site-settings.ts';
import type { VerifyReason } from '../../contract/captcha/siteverify.ts';

/** The request of `/siteverify` without the secret, and without the fields that the account's tier does not include. */
export interface VerifyQuestion {
  token: string;
  audience: 'site' | 'edge';
  ip: string | null;
  email: string | null;
  userAccount: string | null;
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
  /** A rule asks this visitor for less than the site does. The edge remembers it with the clearance. */
  eased?: boolean;
  /** What the site only wants to hear of: the token verifies, with this reason and these facts. */
  flag?: { reason: VerifyReason; facts: SealedFacts };
  /** Settings that could not be judged, because the facts are not known. */
  notEvaluated: readonly string[];
}

/** What judging needs from outside, passed in so that it can be tested without a service. */
export interface VerifyPorts {
  openToken(text: string, nowMs: number): Promise<SealedToken | null>;
  policy(token: SealedToken, question: VerifyQuestion): Promise<PolicyVerdict>;
  /** Atomic. `answer` is kept for the same `fingerprint`. */
  spend(request: {
    key: string;
    bornAt: number;
    fingerprint: string | null;
    answer: string;
  }): Promise<{ spent: boolean; replay: string | null }>;
  recall(key: string, bornAt: number, fingerprint: string): Promise<string | null>;
  /** Turns a judgement into the text that is kept and sent again. */
  render(judgement: Judgement): string;
}

export interface Judgement {
  verified: boolean;
  /** Why not, or what a verified token was flagged for. */
  reason: VerifyReason | null;
  /** With the facts as verification knows them. `null` when the seal did not open. */
  token: SealedToken | null;
  notEvaluated: readonly string[];
  eased: boolean;
  /** The kept response to the same request, to be sent instead of a new one. */
  replay: string | null;
}

/** @param secret the site's own, which a repeated request must carry again. */
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
    // Before expiry and policy: a repeated request gets the first response, however much time has passed.
    const replay = await ports.recall(spendKey, token.bornAt, fingerprint);
    if (replay !== null) return { ...refused(null, token), replay };
  }
  const mismatch = mismatchOf(site, token, question, nowMs);
  if (mismatch !== null) return refused(mismatch, token);
  const policy = await ports.policy(token, question);
  const { notEvaluated, eased = false, flag } = policy;
  const known = flag === undefined ? token : { ...token, facts: flag.facts };
  if (policy.refusal !== null) return { ...refused(policy.refusal, known), notEvaluated };
  const reason = flag?.reason ?? null;
  const won: Judgement = { verified: true, reason, token: known, notEvaluated, eased, replay: null };
  const result = await ports.spend({
    key: spendKey,
    bornAt: token.bornAt,
    fingerprint,
    answer: fingerprint === null ? '' : ports.render(won),
  });
  if (result.spent) return won;
  return { ...refused('API.USER_ALREADY_VERIFIED', token), replay: result.replay };
}

/** A jti is spent once per audience. */
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
  // A clearance is the way past an edge. A backend that asks for no action means the token of a form.
  const isAny = question.action === null && (question.audience === 'edge' || token.action !== CLEARANCE_ACTION);
  if (!isAny && question.action !== token.action) return 'API.ACTION_MISMATCH';
  // The request can ask for more than the site, never for less.
  if (token.level < Math.max(site.settings.minimumLevel, question.level ?? 0)) return 'API.LEVEL_TOO_LOW';
  return null;
}

export function refused(reason: VerifyReason | null, token: SealedToken | null): Judgement {
  return { verified: false, reason, token, notEvaluated: [], eased: false, replay: null };
}

/** Identifies a repeated request: the same key with any other field changed is a different request. */
async function fingerprintOf(secret: string, question: VerifyQuestion): Promise<string | null> {
  if (question.idempotencyKey === null) return null;
  const fields = [
    secret,
    question.idempotencyKey,
    question.token,
    question.ip,
    question.email,
    question.userAccount,
    question.action,
    question.hostname,
    question.level,
  ];
  const encoded = encodeFields(
    fields.flatMap((field) => {
      // A missing field and an empty one are different requests.
      if (field === null) return [numberField(0), textField('')];
      return [numberField(1), textField(String(field))];
    }),
  );
  return sha256Hex(encoded);
}
