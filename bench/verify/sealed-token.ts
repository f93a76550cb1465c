/** Challenges and tokens to measure with, as long as real ones. */
import type { Keyring } from '../../src/captcha/seal/keyring.ts';
import { newJti } from '../../src/captcha/seal/sealed-course.ts';
import type { SealedChallenge } from '../../src/captcha/seal/sealed-challenge.ts';
import { sealToken } from '../../src/captcha/seal/sealed-token.ts';
import { challenge, facts } from '../../test/unit/captcha/sealing-fixtures.ts';

/** As long as a real keyed hash of an address. */
const ADDRESS_TAG = 'A'.repeat(22);
const TOKEN_MS = 600_000;

export function newChallenge(nowMs: number): SealedChallenge {
  const times = { bornAt: nowMs, issuedAt: nowMs, expiresAt: nowMs + 60_000 };
  return { ...challenge, ...times, jti: newJti(), facts: { ...facts, ip: ADDRESS_TAG, prefix: ADDRESS_TAG } };
}

export function sealedToken(keyring: Keyring, site: { siteKey: string; hostname: string }): Promise<string> {
  const nowMs = Date.now();
  const { params: _, round: __, ...of } = newChallenge(nowMs);
  return sealToken(keyring, { ...of, ...site, level: 1, solvedAt: nowMs, expiresAt: nowMs + TOKEN_MS });
}
