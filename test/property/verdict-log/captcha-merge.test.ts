/** Captcha events make the same record in any order, and repeating them changes nothing. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type CaptchaEvent,
  type CaptchaFacts,
  type CaptchaRecord,
  mergeCaptcha,
} from '../../../src/store/event-log/captcha-record.ts';

const identity = {
  jti: '0123456789abcdef0123456789abcdef',
  account_id: 'account-1',
  site_key: 'site-1',
  timestamp: 1_700_000_000_000,
  captcha_type: 'image',
} as const;

const facts: CaptchaFacts = {
  ip: '192.0.2.1',
  asn: 64_496,
  country: 'DE',
  ja4: null,
  user_agent: 'Mozilla/5.0',
  device_type: 'desktop',
  ip_category: [],
  host: null,
  action: null,
  lane: 'visual',
  user_account: null,
  session: null,
  web_view: null,
  iframe: null,
  score: 0.2,
  threshold: 0.5,
  detectors: [],
  selection_reason: null,
  access_rule: null,
  policy_type: null,
};

/** Realistic courses: up to three rounds that fail, possibly one that succeeds, possibly verifications. */
const course: fc.Arbitrary<CaptchaEvent[]> = fc
  .record({
    failed: fc.nat(3),
    passed: fc.boolean(),
    refused: fc.nat(2),
    verified: fc.boolean(),
    flagged: fc.boolean(),
  })
  .map(({ failed, passed, refused, verified, flagged }) => {
    const at = (step: number): number => identity.timestamp + step * 1000;
    const submitted = (step: number, correct: boolean): CaptchaEvent => ({
      ...identity,
      event: 'submitted',
      at: at(step),
      correct,
      reason: correct ? null : 'CAPTCHA.INVALID_SOLUTION',
      score: correct ? 0.4 : null,
      detectors: correct ? ['address-change'] : [],
    });
    const judged = (step: number, isVerified: boolean, reason: string | null): CaptchaEvent => ({
      ...identity,
      event: 'verified',
      at: at(step),
      verified: isVerified,
      reason,
      score: reason === 'API.FLAGGED_IP_VALIDATION' ? 0.7 : 0.4,
      detectors: reason === 'API.FLAGGED_IP_VALIDATION' ? ['address-change', 'flagged-address'] : ['address-change'],
      user_account: 'user-1',
    });
    return [
      { ...identity, event: 'issued', facts },
      ...Array.from({ length: failed }, (_, round) => submitted(round + 1, false)),
      ...(passed ? [submitted(5, true)] : []),
      ...(passed && verified ? [judged(6, true, null)] : []),
      // The same token, verified by the edge and by the site, which flags the address.
      ...(passed && verified && flagged ? [judged(6, true, 'API.FLAGGED_IP_VALIDATION')] : []),
      // A spent or refused token, verified again and again: one reason, whichever came first.
      ...(passed && !verified && refused > 0 ? [judged(7, false, 'API.VPN_BLOCKED')] : []),
    ];
  });

function merged(events: readonly CaptchaEvent[]): CaptchaRecord | null {
  return events.reduce<CaptchaRecord | null>((record, event) => mergeCaptcha(record, event), null);
}

test('the same events make the same record in any order', () => {
  const shuffled = course.chain((events) =>
    fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })),
  );
  fc.assert(
    fc.property(shuffled, ([events, order]) => {
      expect(merged(order)).toEqual(merged(events));
    }),
  );
});

test('a repeated event changes nothing', () => {
  const repeated = course.chain((events) => fc.tuple(fc.constant(events), fc.array(fc.constantFrom(...events))));
  fc.assert(
    fc.property(repeated, ([events, again]) => {
      expect(merged([...events, ...again])).toEqual(merged(events));
    }),
  );
});
