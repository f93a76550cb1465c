/**
 * The key that captcha traffic is counted under, and the groups it is summed in. The shard returns one series per group
 * in this order, and the client reads them in this order.
 */
import { captchaRecordTypes } from './captcha-record.ts';

export const captchaTrafficGroups = captchaRecordTypes.flatMap((type) =>
  [true, false].map((verified) => ({ type, verified })),
);

/** The key that one captcha is counted under. `siteKey` contains no space. */
export function captchaCountKey(siteKey: string, captchaType: string, verified: boolean): string {
  return `${siteKey} ${captchaType} ${verified ? 'verified' : 'unverified'}`;
}
