/** A keyring, a challenge and a token for the tests of seals. */
import { Keyring } from '../../../src/captcha/seal/keyring.ts';
import type { SealedChallenge } from '../../../src/captcha/seal/sealed-challenge.ts';
import type { SealedCourse } from '../../../src/captcha/seal/sealed-course.ts';
import type { SealedFacts } from '../../../src/captcha/seal/sealed-facts.ts';
import type { SealedToken } from '../../../src/captcha/seal/sealed-token.ts';

export const NOON = Date.UTC(2026, 10, 20, 12);
export const DAY_MS = 86_400_000;

/** Every label has its own key, as with HKDF. */
export function keyringOf(master: string): Keyring {
  return new Keyring(async (label) => {
    const bytes = new TextEncoder().encode(`${master} ${label}`);
    return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  });
}

export const facts: SealedFacts = {
  score: 0.25,
  detectors: ['web-view'],
  ip: 'ip-tag',
  prefix: 'prefix-tag',
  country: 'DE',
  asn: 64_496,
  network: null,
  city: null,
  latitude: null,
  longitude: null,
  categories: null,
  session: null,
  webView: true,
  refusal: null,
};

const course: SealedCourse = {
  jti: '00112233445566778899aabbccddeeff',
  bornAt: NOON,
  siteKey: 'site',
  hostname: 'example.com',
  action: 'login',
  cdata: 'order-7',
  kind: 'pow',
  lane: 'rsw',
  powDifficulty: 4.5,
  edge: { instanceId: 'inst_1', visitor: 'network-and-agent', agent: 'agent', family: 4 },
  facts,
};

export const challenge: SealedChallenge = {
  ...course,
  issuedAt: NOON,
  expiresAt: NOON + 60_000,
  round: 0,
  params: { t: 75_000 },
};

export const token: SealedToken = {
  ...course,
  level: 1,
  issuedAt: NOON,
  solvedAt: NOON + 500,
  expiresAt: NOON + 120_500,
};
