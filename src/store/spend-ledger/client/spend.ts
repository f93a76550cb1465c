/**
 * The way to the SpendLedger objects. A jti's first byte picks the object, so that every use of one
 * jti meets in the same place; counters have objects by purpose and site.
 */
import { inJurisdiction } from '../../jurisdiction.ts';
import type { CountRequest, SpendLedgerRpc, SpendRequest, SpendResult, SpendRow } from '../rpc.ts';
import { SpendBatcher } from './spend-batcher.ts';

/**
 * One object takes about 1,000 calls a second in production, of up to 64 spends each: four are enough for
 * 4,000 lone spends a second and many more in batches, and few enough that batches fill. Changing this
 * number moves jtis to other objects: within the hour after it a token could be spent once in each.
 */
const SPEND_SHARDS = 4;
const COUNT_SHARDS = 16;

/** `key` is `audience:jti` or another name that holds the jti; `jti` in hex. */
export function spend(
  call: { env: ServiceEnv; waitUntil(work: Promise<unknown>): void },
  jti: string,
  request: SpendRequest,
): Promise<SpendResult> {
  const { env } = call;
  const name = `spend-${shardOf(jti)}`;
  const { key, bornAt, fingerprint, answer } = request;
  const way = {
    send: async (rows: readonly SpendRow[]) => {
      const results = await ledger(env, name).spendAll(rows);
      return results.map((result) =>
        typeof result === 'string' ? { spent: false, replay: result } : { spent: result, replay: null },
      );
    },
    waitUntil: (work: Promise<unknown>) => call.waitUntil(work),
  };
  return known(env).batcher.spend(name, [key, bornAt, fingerprint, answer, newCallId()], way, Date.now());
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

/** Whether a key was spent: a glance before work that a spent token is not worth; only `spend` decides. */
export async function isSpent(env: ServiceEnv, jti: string, key: string, bornAt: number): Promise<boolean> {
  return ledger(env, `spend-${shardOf(jti)}`).isSpent(key, bornAt);
}

/**
 * Exact across all isolates: `false` once `limit` uses of the key were counted in its window. A key begins
 * with purpose and site, which have objects of their own: one that is full refuses, and must refuse nobody else.
 */
export async function countUse(env: ServiceEnv, request: CountRequest): Promise<boolean> {
  const [purpose = '', site = ''] = request.key.split(' ', 2);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(request.key));
  const shard = (new Uint8Array(digest)[0] ?? 0) % COUNT_SHARDS;
  const counter = pinned(env).getByName(`count ${purpose} ${site} ${shard}`) as unknown as SpendLedgerRpc;
  return counter.count(request);
}

function shardOf(jti: string): number {
  return Number.parseInt(jti.slice(0, 2), 16) % SPEND_SHARDS;
}

let isolate = '';
let calls = 0;

/** Names one question to the ledger, so that asking it again is not another one. */
function newCallId(): string {
  // Not at start-up: Workers grant randomness to requests only.
  if (isolate === '') isolate = crypto.randomUUID();
  return `${isolate}:${calls++}`;
}

interface Known {
  /** An id is a hash of its name, worth keeping; a stub belongs to one request. */
  ids: Map<string, DurableObjectId>;
  batcher: SpendBatcher;
}
const knownByNamespace = new WeakMap<object, Known>();

function known(env: ServiceEnv): Known {
  let found = knownByNamespace.get(env.SPEND_LEDGER);
  if (found === undefined)
    knownByNamespace.set(env.SPEND_LEDGER, (found = { ids: new Map(), batcher: new SpendBatcher() }));
  return found;
}

function ledger(env: ServiceEnv, name: string): SpendLedgerRpc {
  const namespace = pinned(env);
  const { ids } = known(env);
  let id = ids.get(name);
  if (id === undefined) ids.set(name, (id = namespace.idFromName(name)));
  return namespace.get(id) as unknown as SpendLedgerRpc;
}

function pinned({ JURISDICTION, SPEND_LEDGER }: ServiceEnv): typeof SPEND_LEDGER {
  return inJurisdiction(SPEND_LEDGER, JURISDICTION);
}
