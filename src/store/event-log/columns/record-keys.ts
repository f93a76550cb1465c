/** The keys that a sealed record is looked up by. */
import type { CaptchaRecord } from '../captcha-record.ts';
import type { LogRecord } from '../log-record.ts';
import type { KeyField } from './segment-keys.ts';

export function* verdictKeys({ jti, ip, asn, request_path, fired_rules }: LogRecord): Generator<[KeyField, string]> {
  if (jti !== null) yield ['jti', jti];
  if (ip !== null) yield ['ip', ip];
  if (asn !== null) yield ['asn', String(asn)];
  yield ['path', request_path];
  for (const { id } of fired_rules) yield ['rule', id];
}

/** The key of its session lets the erasure of a session find the captchas that were solved in it. */
export function* captchaKeys({ jti, session, ip, user_account }: CaptchaRecord): Generator<[KeyField, string]> {
  yield ['jti', jti];
  if (session !== null) yield ['jti', session];
  if (ip !== null) yield ['ip', ip];
  if (user_account !== null) yield ['user_account', user_account];
}
