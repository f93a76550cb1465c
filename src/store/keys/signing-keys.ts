/**
 * Ed25519 signing keys: one current key per purpose, made on first use and never deleted, because a client JWT may live
 * for 100 years and must stay verifiable. The private part is sealed in D1. A unique index decides between two isolates
 * that both make the first key.
 */
import { statement } from '../sql.ts';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { decodeBase64url } from '../../bytes/base64url.ts';
import type { StoreEnv } from '../binding.ts';
import { openAtRest, sealAtRest } from './master-key.ts';
import { rootKey } from './root-key.ts';

type SigningPurpose = 'client-jwt' | 'ruleset';

/** Public half of an Ed25519 key. `publicKeyRaw` is its 32 bytes; `publicJwk` is the same key as a JWK. */
interface VerificationKey {
  kid: string;
  publicKey: CryptoKey;
  publicKeyRaw: Uint8Array<ArrayBuffer>;
  publicJwk: JWK;
}

interface SigningKey extends VerificationKey {
  privateKey: CryptoKey;
}

interface SigningKeyRow {
  kid: string;
  public_key: string;
  private_sealed: string;
}

/** Keys rarely change. A caller that meets an unknown `kid` asks again with `fresh`. */
const MEMO_MS = 60_000;

/** Resolved values only: on Workers a promise that belongs to a cancelled request may never settle. */
interface Memo {
  signing: Map<SigningPurpose, SigningKey>;
  verification: Map<SigningPurpose, { readAt: number; keys: readonly VerificationKey[] }>;
}
/** Per database, not per module: tests and the CLI open several databases in one process. */
const memos = new WeakMap<object, Memo>();

/** The current key of a purpose, generated if there is none. `nowMs`: epoch milliseconds. */
export async function signingKey(env: StoreEnv, purpose: SigningPurpose, nowMs: number): Promise<SigningKey> {
  const memo = memoOf(env).signing;
  const kept = memo.get(purpose);
  if (kept) return kept;
  const key = await loadOrCreate(env, purpose, nowMs);
  memo.set(purpose, key);
  return key;
}

/** Every key of a purpose, newest first. `fresh` skips the isolate's copy. */
export async function verificationKeys(
  env: StoreEnv,
  purpose: SigningPurpose,
  nowMs: number,
  fresh = false,
): Promise<readonly VerificationKey[]> {
  const memo = memoOf(env).verification;
  const kept = memo.get(purpose);
  if (kept && !fresh && nowMs - kept.readAt < MEMO_MS) return kept.keys;
  const keys = await loadPublic(env, purpose);
  // An empty list is not kept, because the first key can be made at any time.
  if (keys.length > 0) memo.set(purpose, { readAt: nowMs, keys });
  return keys;
}

async function loadOrCreate(env: StoreEnv, purpose: SigningPurpose, nowMs: number): Promise<SigningKey> {
  const row = (await currentRow(env, purpose)) ?? (await createKey(env, purpose, nowMs));
  const privateJwk = JSON.parse(await openAtRest(await rootKey(env), sealContext(row.kid), row.private_sealed)) as JWK;
  const privateKey = await crypto.subtle.importKey('jwk', privateJwk as JsonWebKey, 'Ed25519', false, ['sign']);
  return { ...(await verificationKey(row)), privateKey };
}

async function createKey(env: StoreEnv, purpose: SigningPurpose, nowMs: number): Promise<SigningKeyRow> {
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
  const jwk = (await crypto.subtle.exportKey('jwk', pair.privateKey)) as JWK;
  const { kty, crv, x, d } = jwk as { kty: string; crv: string; x: string; d: string };
  const kid = await calculateJwkThumbprint({ kty, crv, x });
  const sealed = await sealAtRest(await rootKey(env), sealContext(kid), JSON.stringify({ kty, crv, x, d }));
  await statement(env)`
    INSERT INTO signing_keys (kid, purpose, public_key, private_sealed, is_current, created_at)
    VALUES (${kid}, ${purpose}, ${x}, ${sealed}, 1, ${nowMs}) ON CONFLICT DO NOTHING`.run();
  const row = await currentRow(env, purpose);
  if (!row) throw new Error(`No signing key for ${purpose} after creating one`);
  return row;
}

function currentRow(env: StoreEnv, purpose: SigningPurpose): Promise<SigningKeyRow | null> {
  return statement(env)`
    SELECT kid, public_key, private_sealed FROM signing_keys
    WHERE purpose = ${purpose} AND is_current = 1`.first<SigningKeyRow>();
}

async function loadPublic(env: StoreEnv, purpose: SigningPurpose): Promise<readonly VerificationKey[]> {
  const { results } = await statement(env)`
    SELECT kid, public_key FROM signing_keys WHERE purpose = ${purpose} ORDER BY is_current DESC, created_at DESC`.all<
    Pick<SigningKeyRow, 'kid' | 'public_key'>
  >();
  return Promise.all(results.map(verificationKey));
}

async function verificationKey(row: Pick<SigningKeyRow, 'kid' | 'public_key'>): Promise<VerificationKey> {
  const publicKeyRaw = decodeBase64url(row.public_key);
  if (publicKeyRaw === null) throw new Error(`signing_keys.public_key of ${row.kid} is not base64url`);
  return {
    kid: row.kid,
    publicKey: await crypto.subtle.importKey('raw', publicKeyRaw, 'Ed25519', true, ['verify']),
    publicKeyRaw,
    publicJwk: { kty: 'OKP', crv: 'Ed25519', x: row.public_key, kid: row.kid, alg: 'EdDSA', use: 'sig' },
  };
}

function sealContext(kid: string): string {
  return `signing_keys.private_sealed:${kid}`;
}

function memoOf(env: StoreEnv): Memo {
  let memo = memos.get(env.DB);
  if (!memo) {
    memo = { signing: new Map(), verification: new Map() };
    memos.set(env.DB, memo);
  }
  return memo;
}
