/**
 * The way to the SpendLedger objects. A jti's first byte picks the object, so that every use of one
 * jti meets in the same place; counters are filed by a hash of their key.
 */
import type { CountRequest, SpendLedger, SpendRequest, SpendResult } from '../../store/spend-ledger.ts';

/**
 * One object takes about 1,000 calls a second in production. Changing this number moves jtis to other
 * objects: within the hour after it a token could be spent once in each.
 */
const SPEND_SHARDS = 16;

/** `key` is `audience:jti` or another name that holds the jti; `jti` in hex. */
export function spend(env: ServiceEnv, jti: string, request: SpendRequest): Promise<SpendResult> {
  return ledger(env, `spend-${shardOf(jti)}`).spend(request);
}

export async function recall(
  env: ServiceEnv,
  jti: string,
  key: string,
  bornAt: number,
  fingerprint: string,
): Promise<string | null> {
  return ledger(env, `spend-${shardOf(jti)}`).recall(key, bornAt, fingerprint);
}

/** Exact across all isolates: `false` once `limit` uses of the key were counted in its window. */
export async function countUse(env: ServiceEnv, request: CountRequest): Promise<boolean> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(request.key));
  return ledger(env, `count-${(new Uint8Array(digest)[0] ?? 0) % SPEND_SHARDS}`).count(request);
}

function shardOf(jti: string): number {
  return Number.parseInt(jti.slice(0, 2), 16) % SPEND_SHARDS;
}

/** An id is a hash of its name, worth keeping; a stub belongs to one request. */
const ids = new WeakMap<object, Map<string, DurableObjectId>>();

function ledger(env: ServiceEnv, name: string): DurableObjectStub<SpendLedger> {
  const { JURISDICTION: jurisdiction, SPEND_LEDGER: namespace } = env;
  const pinned = jurisdiction === 'eu' || jurisdiction === 'us' ? namespace.jurisdiction(jurisdiction) : namespace;
  let known = ids.get(namespace);
  if (known === undefined) ids.set(namespace, (known = new Map()));
  let id = known.get(name);
  if (id === undefined) known.set(name, (id = pinned.idFromName(name)));
  return pinned.get(id);
}
