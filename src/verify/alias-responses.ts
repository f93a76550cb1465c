/**
 * The responses of Turnstile, hCaptcha and reCAPTCHA, so that a backend written for one of them moves here by changing
 * an address. Their clients read the body only, so every response is a 200 and every mistake an error code.
 */
import type { SealedToken } from '../captcha/seal/sealed-token.ts';
import type { AliasResponse, VerifyReason } from '../contract/captcha/siteverify.ts';

export const aliasDialects = ['turnstile', 'hcaptcha', 'recaptcha'] as const;
export type AliasDialect = (typeof aliasDialects)[number];

/** Mistakes that are found before a token is judged. */
export type AliasFault =
  | 'missing-input-secret'
  | 'invalid-input-secret'
  | 'missing-input-response'
  | 'bad-request'
  | 'internal-error';

export function aliasFault(fault: AliasFault): AliasResponse {
  return { success: false, 'error-codes': [fault] };
}

/** reCAPTCHA's score of a visitor who is probably a person, or a bot, where the tier has no exact one. */
const PROBABLY_PERSON = 0.9;
const PROBABLY_BOT = 0.3;

/**
 * reCAPTCHA's 1 is a person. Its version 3 clients compare the score with a limit, usually 0.5, and would refuse
 * everybody without one. So there always is one, in two steps where the tier has no exact one.
 */
export function recaptchaScore(exact: number | null, botScore: number): number {
  if (exact === null) return botScore < 0.5 ? PROBABLY_PERSON : PROBABLY_BOT;
  return Math.round((1 - exact) * 100) / 100;
}

/** What every verified response begins with. reCAPTCHA's has whole seconds, and no codes where there is no error. */
export function aliasSuccess(dialect: AliasDialect, solvedAtMs: number): AliasResponse {
  const time = new Date(solvedAtMs).toISOString();
  if (dialect === 'recaptcha') return { success: true, challenge_ts: time.replace(/\.\d+Z$/, 'Z') };
  return { success: true, 'error-codes': [], challenge_ts: time };
}

/**
 * The body as the original writes it: reCAPTCHA's over several lines, the others' in one. Some clients search the text
 * instead of parsing it; Perl's `Captcha::reCAPTCHA` looks for `"success": true` with the space.
 */
export function aliasText(dialect: AliasDialect, response: AliasResponse): string {
  return JSON.stringify(response, null, dialect === 'recaptcha' ? 2 : 0);
}

/** @param score closer to 1 for a bot, or `null` where the tier has none. */
export function aliasVerified(dialect: AliasDialect, token: SealedToken, score: number | null): AliasResponse {
  return {
    ...aliasSuccess(dialect, token.issuedAt),
    hostname: token.hostname,
    ...(dialect === 'recaptcha' ? { score: recaptchaScore(score, token.facts.score) } : {}),
    ...(dialect === 'hcaptcha' || token.action === '' ? {} : { action: token.action }),
    ...(dialect === 'turnstile' && token.cdata !== '' ? { cdata: token.cdata } : {}),
    // hCaptcha's 1 is a bot too.
    ...(dialect === 'hcaptcha' && score !== null ? { score } : {}),
  };
}

export function aliasRefused(dialect: AliasDialect, reason: VerifyReason): AliasResponse {
  return { success: false, 'error-codes': [aliasCode(dialect, reason)] };
}

function aliasCode(dialect: AliasDialect, reason: VerifyReason): string {
  if (reason === 'API.TIMESTAMP_TOO_OLD')
    return dialect === 'hcaptcha' ? 'expired-input-response' : 'timeout-or-duplicate';
  if (reason === 'API.USER_ALREADY_VERIFIED') {
    return dialect === 'hcaptcha' ? 'invalid-or-already-seen-response' : 'timeout-or-duplicate';
  }
  if (reason === 'API.SITE_KEY_MISMATCH' && dialect === 'hcaptcha') return 'sitekey-secret-mismatch';
  if (reason === 'CAPTCHA.INVALID_TOKEN' && dialect === 'hcaptcha') return 'invalid-or-already-seen-response';
  return 'invalid-input-response';
}
