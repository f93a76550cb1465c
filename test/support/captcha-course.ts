/** Captcha events for tests: the ordinary course of one captcha. */
import type { CaptchaEvent, CaptchaFacts, CaptchaRecordType } from '../../src/store/event-log/captcha-record.ts';

export const plainFacts: CaptchaFacts = {
  ip: '192.0.2.1',
  asn: 64_496,
  country: 'DE',
  ja4: 't13d1516h2_8daaf6152771_02713d6af862',
  user_agent: 'Mozilla/5.0 (X11; Linux)',
  device_type: 'desktop',
  ip_category: [],
  host: 'shop.example',
  action: 'login',
  lane: 'rsw',
  user_account: null,
  session: null,
  web_view: false,
  iframe: false,
  score: 0.1,
  threshold: 0.5,
  detectors: [],
  selection_reason: null,
  access_rule: null,
  policy_type: null,
};

export function jtiOf(number: number): string {
  return number.toString(16).padStart(6, '0').padEnd(32, '7');
}

/** Issue, answer and verification of one captcha, `number` seconds after `start`. */
export function captchaCourse(
  account: string,
  start: number,
  number: number,
  type: CaptchaRecordType = 'pow',
  siteKey = 'site-1',
): CaptchaEvent[] {
  const timestamp = start + number * 1000;
  const identity = { jti: jtiOf(number), account_id: account, site_key: siteKey, timestamp, captcha_type: type };
  return [
    { ...identity, event: 'issued', facts: { ...plainFacts, ip: `192.0.2.${number % 7}` } },
    { ...identity, event: 'submitted', at: timestamp + 900, correct: true, reason: null, score: null, detectors: [] },
    {
      ...identity,
      event: 'verified',
      at: timestamp + 1500,
      verified: true,
      reason: null,
      score: 0,
      detectors: [],
      user_account: null,
    },
  ];
}
