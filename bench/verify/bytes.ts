/** Bytes of what travels for one visitor: the challenge, the solution, and the form field that a backend checks. */
import Cap from '@cap.js/server';
import { createChallenge, randomInt, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { encodeBase64url } from '../../src/bytes/base64url.ts';
import { generateRswKey, levelOf } from '../../src/captcha/pow/rsw-key.ts';
import { RswMinter } from '../../src/captcha/pow/rsw-mint.ts';
import type { Keyring } from '../../src/captcha/seal/keyring.ts';
import { sealChallenge } from '../../src/captcha/seal/sealed-challenge.ts';
import { newChallenge, sealedToken } from './sealed-token.ts';

interface Sizes {
  challenge: number;
  /** 0: the form field has it. */
  solution: number;
  'form field': number;
}

export async function measureBytes(keyring: Keyring): Promise<Record<string, Sizes>> {
  return {
    Gatehouse: await ofGatehouse(keyring),
    'altcha-lib, PBKDF2 5,000': await ofAltcha(),
    '@cap.js/server, 50 puzzles': await ofCap(),
  };
}

async function ofGatehouse(keyring: Keyring): Promise<Sizes> {
  const nowMs = Date.now();
  const minter = new RswMinter(await generateRswKey(0));
  const { x, y, t } = minter.mint(levelOf(4));
  const sealed = newChallenge(nowMs);
  const challenge = await sealChallenge(keyring, { ...sealed, params: { t } }, y);
  const pow = { lane: 'rsw', t, n: encodeBase64url(minter.modulus), x: encodeBase64url(x) };
  const token = await sealedToken(keyring, { siteKey: 'site-0123456789abcdef', hostname: 'www.shop.example' });
  return {
    challenge: sizeOf({ jti: sealed.jti, kind: 'pow', challenge, expiresAt: sealed.expiresAt, now: nowMs, pow }),
    solution: sizeOf({ challenge, solution: { y: encodeBase64url(y) } }),
    'form field': sizeOf({ token }),
  };
}

async function ofAltcha(): Promise<Sizes> {
  const secrets = { hmacSignatureSecret: 'bench', hmacKeySignatureSecret: 'bench-key' };
  const expiresAt = new Date(Date.now() + 600_000);
  const kind = { algorithm: 'PBKDF2/SHA-256', cost: 5000, deriveKey, expiresAt, ...secrets } as const;
  // Solved at once. A counter as the guide has it is three digits longer.
  const challenge = await createChallenge({ ...kind, counter: 1 });
  const solution = await solveChallenge({ challenge, deriveKey });
  const field = Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
  return {
    challenge: sizeOf(await createChallenge({ ...kind, counter: randomInt(5000, 10_000) })),
    solution: 0,
    'form field': field.length,
  };
}

async function ofCap(): Promise<Sizes> {
  const challenge = await new Cap({ noFSState: true, disableAutoCleanup: true }).createChallenge();
  const { token } = challenge;
  // The hash of one in 65,536 numbers fits: the search ends at about as many.
  const solutions = Array.from({ length: 50 }, () => randomInt(0, 131_072));
  return {
    challenge: sizeOf(challenge),
    solution: sizeOf({ token, solutions }),
    'form field': `${'d'.repeat(16)}:${'e'.repeat(30)}`.length,
  };
}

function sizeOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}
