/** Captcha events of an account, written to the real log, for the tests of traffic and audit. */
import { appendCaptchas } from '../../../src/store/event-log/client/captcha-log.ts';
import type { CaptchaEvent, CaptchaFacts, CaptchaRecordType } from '../../../src/store/event-log/captcha-record.ts';
import { plainFacts } from '../../support/captcha-course.ts';
import { serviceEnv } from './service-under-test.ts';

export interface TestCaptcha {
  at: number;
  type?: CaptchaRecordType;
  facts?: Partial<CaptchaFacts>;
  /** Absent: no solution was sent. */
  correct?: boolean;
  /** Absent: never verified. */
  verified?: boolean;
}

/** Writes each captcha with all its events. @returns their jtis, in order. */
export async function writeCaptchas(accountId: string, siteKey: string, list: TestCaptcha[]): Promise<string[]> {
  const events: CaptchaEvent[] = [];
  const jtis = list.map((one) => {
    const jti = crypto.randomUUID().replaceAll('-', '');
    const type = one.type ?? 'pow';
    const identity = { jti, account_id: accountId, site_key: siteKey, timestamp: one.at, captcha_type: type };
    const facts = { ...plainFacts, ...one.facts };
    if (type === 'blocked') events.push({ ...identity, event: 'blocked', facts, reason: 'API.ACCESS_POLICY_BLOCK' });
    else events.push({ ...identity, event: 'issued', facts });
    if (one.correct !== undefined) {
      const reason = one.correct ? null : 'CAPTCHA.INVALID_SOLUTION';
      const at = one.at + 500;
      events.push({ ...identity, event: 'submitted', at, correct: one.correct, reason, score: null, detectors: [] });
    }
    if (one.verified !== undefined) {
      const { score, detectors } = facts;
      const outcome = { verified: one.verified, reason: null, score: score ?? 0, detectors, user_account: null };
      events.push({ ...identity, event: 'verified', at: one.at + 900, ...outcome });
    }
    return jti;
  });
  await appendCaptchas(serviceEnv, events);
  return jtis;
}
