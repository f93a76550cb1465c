/**
 * How the service reaches the SpendLedger objects. The first byte of a jti chooses the object, so that every use of one
 * jti meets the same object.
 */
import type { WaitUntil } from '../../../bytes/polled.ts';
import { inJurisdiction } from '../../jurisdiction.ts';
import type { SpendLedgerRpc, SpendRequest, SpendResult, SpendRow } from '../rpc.ts';
import { SpendBatcher } from './spend-batcher.ts';

type SpendEnv = Pick<ServiceEnv, 'SPEND_LEDGER' | 'JURISDICTION'>;

/**
 * One object takes about 1,000 calls a second, each with up to 64 spends. Four objects are enough for 4,000 single
 * spends a second, and few enough that batches fill. Changing this number moves jtis to other objects: within the next
 * hour, a token could then be spent once in each.
 */
const SPEND_SHARDS = 4;

/** `key` is `audience:jti` or another name that contains the jti; `jti` is hex. */
export function spend(
  call: { store: SpendEnv; waitUntil: WaitUntil },
  jti: string,
  request: SpendRequest,
): Promise<SpendResult> {
  const { store: env } = call;
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
  env: SpendEnv,
  jti: string,
  key: string,
  bornAt: number,
  fingerprint: string,
): Promise<string | null> {
  return ledger(env, `spend-${shardOf(jti)}`).recall(key, bornAt, fingerprint);
}

/** Whether a key was spent. It only saves work for a spent token; `spend` decides. */
export async function isSpent(env: SpendEnv, jti: string, key: string, bornAt: number): Promise<boolean> {
  return ledger(env, `spend-${shardOf(jti)}`).isSpent(key, bornAt);
}

function shardOf(jti: string): number {
  return Number.parseInt(jti.slice(0, 2), 16) % SPEND_SHARDS;
}

let isolate = '';
let calls = 0;

/** Identifies one spend, so that repeating it is not a second one. */
function newCallId(): string {
  // Not at module start: Workers allow randomness only within requests.
  if (isolate === '') isolate = crypto.randomUUID();
  return `${isolate}:${calls++}`;
}

interface Known {
  /** An id is a hash of its name and worth keeping; a stub belongs to one request. */
  ids: Map<string, DurableObjectId>;
  batcher: SpendBatcher;
}
const knownByNamespace = new WeakMap<object, Known>();

function known(env: SpendEnv): Known {
  let found = knownByNamespace.get(env.SPEND_LEDGER);
  if (found === undefined)
    knownByNamespace.set(env.SPEND_LEDGER, (found = { ids: new Map(), batcher: new SpendBatcher() }));
  return found;
}

function ledger(env: SpendEnv, name: string): SpendLedgerRpc {
  const namespace = pinned(env);
  const { ids } = known(env);
  let id = ids.get(name);
  if (id === undefined) ids.set(name, (id = namespace.idFromName(name)));
  return namespace.get(id) as unknown as SpendLedgerRpc;
}

function pinned({ JURISDICTION, SPEND_LEDGER }: SpendEnv): typeof SPEND_LEDGER {
  return inJurisdiction(SPEND_LEDGER, JURISDICTION);
}
