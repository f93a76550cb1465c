/** The fields of a captcha record: each is a column of the sealed ones. */
import type { CaptchaRecord } from './captcha-record.ts';

/** A field's position in this list, plus one, is the number of its column, never reused. */
export const captchaFields = [
  'v',
  'id',
  'jti',
  'account_id',
  'site_key',
  'timestamp',
  'captcha_type',
  'ip',
  'asn',
  'country',
  'ja4',
  'user_agent',
  'device_type',
  'ip_category',
  'host',
  'action',
  'lane',
  'user_account',
  'session',
  'web_view',
  'iframe',
  'score',
  'threshold',
  'detectors',
  'selection_reason',
  'access_rule',
  'policy_type',
  'issued',
  'status',
  'result_reason',
  'submitted_at',
  'submitted_correct',
  'verified_at',
  'verified',
] as const satisfies readonly (keyof CaptchaRecord)[];
export type CaptchaField = (typeof captchaFields)[number];

/** Fields whose columns are searched. A search by another field counts as one of the whole text. */
export const searchedFields = [
  'site_key',
  'captcha_type',
  'ip',
  'asn',
  'country',
  'ja4',
  'user_agent',
  'device_type',
  'ip_category',
  'user_account',
  'web_view',
  'iframe',
  'detectors',
  'selection_reason',
  'access_rule',
  'policy_type',
  'status',
  'result_reason',
] as const satisfies readonly CaptchaField[];

const searched: ReadonlySet<CaptchaField> = new Set(searchedFields);

export function isSearched(field: CaptchaField): boolean {
  return searched.has(field);
}
