/**
 * The criteria of a search for captcha records, all of which must match. Codes and ids are compared as a whole; the
 * user agent and `freeText` match any part, in any letter case.
 */
import * as z from 'zod/mini';
import { canonicalValue } from '../../../rules/canonical.ts';
import { captchaStatuses } from '../../../store/event-log/captcha-record.ts';
import type { CaptchaField } from '../../../store/event-log/captcha-fields.ts';
import type { CaptchaCondition } from '../../../store/event-log/captcha-condition.ts';
import { oneOrMany } from '../../../contract/management/verdict-query.ts';
import { deviceTypes } from '../../../contract/vocabulary.ts';
import { OperationError } from '../operation-error.ts';

const text = z.string().check(z.minLength(1), z.maxLength(1024));

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
  /** The `userScopeHash` of the rule. */
  accessRule: z.optional(text),
  /** `block` or `restrict`, the types of a rule. No record has another one. */
  policyType: z.optional(text),
  /** All of them must have triggered. */
  triggeredDetectors: z.optional(oneOrMany(text)),
  freeText: z.optional(text),
});
type SearchCriteria = z.infer<typeof searchCriteria>;

/** The address in canonical form. */
function canonicalIpOf(criteria: SearchCriteria): string | null {
  if (criteria.ip === undefined) return null;
  const canonical = canonicalValue('ip', criteria.ip);
  if (canonical.ok) return canonical.value;
  throw new OperationError('API.INVALID_BODY', 'The address cannot be read', [
    { path: 'searchCriteria.ip', message: canonical.error },
  ]);
}

/** The criteria as conditions on the fields of the log. */
export function captchaConditions(criteria: SearchCriteria): CaptchaCondition[] {
  const { ja4, userAgent, userAccount, countryCode, deviceType, vpn, webView, iFrame, status } = criteria;
  const { selectionReason, resultReason, accessRule, policyType, triggeredDetectors, freeText } = criteria;
  const conditions: CaptchaCondition[] = [];
  const is = (field: CaptchaField, value: string | boolean | null | undefined): void => {
    if (value !== undefined && value !== null) conditions.push({ field, is: value });
  };
  is('ip', canonicalIpOf(criteria));
  is('ja4', ja4?.toLowerCase());
  is('user_account', userAccount);
  is('country', countryCode?.toUpperCase());
  is('device_type', deviceType);
  is('web_view', webView);
  is('iframe', iFrame);
  is('status', status);
  is('selection_reason', selectionReason);
  is('result_reason', resultReason);
  is('access_rule', accessRule);
  is('policy_type', policyType);
  if (userAgent !== undefined) conditions.push({ field: 'user_agent', contains: userAgent });
  if (vpn !== undefined)
    conditions.push(vpn ? { field: 'ip_category', has: 'vpn' } : { field: 'ip_category', lacks: 'vpn' });
  for (const detector of triggeredDetectors ?? []) conditions.push({ field: 'detectors', has: detector });
  if (freeText !== undefined) conditions.push({ fields: shownFields, contains: freeText });
  return conditions;
}

/** Fields that `captchaRecordResponse` shows as text, number or list. */
const shownFields: readonly CaptchaField[] = [
  'id',
  'jti',
  'timestamp',
  'site_key',
  'captcha_type',
  'status',
  'result_reason',
  'ip',
  'country',
  'asn',
  'ip_category',
  'ja4',
  'user_agent',
  'device_type',
  'host',
  'action',
  'lane',
  'user_account',
  'session',
  'score',
  'threshold',
  'detectors',
  'selection_reason',
  'access_rule',
  'policy_type',
  'submitted_at',
  'verified_at',
];
