/**
 * The criteria of an audit search (interface document 4.5), all of which must hold. Codes and ids are compared whole,
 * the user agent and `freeText` as substrings whatever the letter case.
 */
import * as z from 'zod/mini';
import { canonicalValue } from '../../rules/canonical.ts';
import { captchaStatuses } from '../../store/captcha-log/captcha-record.ts';
import type { CaptchaRecord } from '../../store/captcha-log/captcha-record.ts';
import { deviceTypes } from '../../contract/vocabulary.ts';
import { ApiError } from '../operation.ts';
import { captchaRecordOf } from './captcha-record-answer.ts';

const text = z.string().check(z.minLength(1), z.maxLength(1024));
const DETECTORS_MAX = 32;

export const searchCriteria = z.strictObject({
  ip: z.optional(text),
  ja4: z.optional(text),
  userAgent: z.optional(text),
  userAccount: z.optional(text),
  countryCode: z.optional(text),
  deviceType: z.optional(z.enum(deviceTypes)),
  vpn: z.optional(z.boolean()),
  webView: z.optional(z.boolean()),
  iFrame: z.optional(z.boolean()),
  status: z.optional(z.enum(captchaStatuses)),
  selectionReason: z.optional(text),
  resultReason: z.optional(text),
  /** `userScopeHash` of the rule. */
  accessRule: z.optional(text),
  policyType: z.optional(z.enum(['block', 'restrict'])),
  /** Every one of them must have triggered. */
  triggeredDetectors: z.optional(z.array(text).check(z.minLength(1), z.maxLength(DETECTORS_MAX))),
  freeText: z.optional(text),
});
export type SearchCriteria = z.infer<typeof searchCriteria>;

/** The address in canonical form; the log has a column for it. */
export function canonicalIpOf(criteria: SearchCriteria): string | null {
  if (criteria.ip === undefined) return null;
  const canonical = canonicalValue('ip', criteria.ip);
  if (canonical.ok) return canonical.value;
  throw new ApiError('API.INVALID_BODY', 'The address cannot be searched for', [
    { path: 'searchCriteria.ip', message: canonical.reason },
  ]);
}

/** `null` where the log's columns say everything that is asked. */
export function recordFilter(criteria: SearchCriteria): ((record: CaptchaRecord) => boolean) | null {
  const tests: ((record: CaptchaRecord) => boolean)[] = [];
  const { ja4, userAgent, userAccount, countryCode, deviceType, vpn, webView, iFrame, status } = criteria;
  const { selectionReason, resultReason, accessRule, policyType, triggeredDetectors, freeText } = criteria;
  if (ja4 !== undefined) tests.push((record) => record.ja4 === ja4.toLowerCase());
  if (userAgent !== undefined) tests.push((record) => contains(record.user_agent, userAgent));
  if (userAccount !== undefined) tests.push((record) => record.user_account === userAccount);
  if (countryCode !== undefined) tests.push((record) => record.country === countryCode.toUpperCase());
  if (deviceType !== undefined) tests.push((record) => record.device_type === deviceType);
  if (vpn !== undefined) tests.push((record) => record.ip_category.includes('vpn') === vpn);
  if (webView !== undefined) tests.push((record) => record.web_view === webView);
  if (iFrame !== undefined) tests.push((record) => record.iframe === iFrame);
  if (status !== undefined) tests.push((record) => record.status === status);
  if (selectionReason !== undefined) tests.push((record) => record.selection_reason === selectionReason);
  if (resultReason !== undefined) tests.push((record) => record.result_reason === resultReason);
  if (accessRule !== undefined) tests.push((record) => record.access_rule === accessRule);
  if (policyType !== undefined) tests.push((record) => record.policy_type === policyType);
  if (triggeredDetectors) {
    tests.push((record) => triggeredDetectors.every((detector) => record.detectors.includes(detector)));
  }
  if (freeText !== undefined) tests.push((record) => isShown(record, freeText));
  return tests.length === 0 ? null : (record) => tests.every((passes) => passes(record));
}

/** Across the displayable fields: what the answer shows as text or number. */
function isShown(record: CaptchaRecord, wanted: string): boolean {
  return Object.values(captchaRecordOf(record))
    .flat()
    .some((value) => (typeof value === 'string' || typeof value === 'number') && contains(String(value), wanted));
}

function contains(value: string, wanted: string): boolean {
  return value.toLowerCase().includes(wanted.toLowerCase());
}
