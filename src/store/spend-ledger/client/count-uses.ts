/**
 * Counts uses exactly across all isolates. Each purpose and site has objects of its own, so that a full object refuses no
 * other site. Keys that are counted together share a group, which chooses their object.
 */
import { inJurisdiction } from '../../jurisdiction.ts';
import type { SpendLedgerRpc } from '../rpc.ts';
import { textHash } from '../../text-hash.ts';

type CountEnv = Pick<ServiceEnv, 'SPEND_LEDGER' | 'JURISDICTION'>;

const SHARDS = 16;

interface CountedTogether {
  purpose: string;
  site: string;
  group: string;
  windowMs: number;
}

/** `false` where one of the keys had its limit of uses in its window. Then none of them is counted. */
export function countUses(
  env: CountEnv,
  { purpose, site, group, windowMs }: CountedTogether,
  counts: readonly { key: string; limit: number }[],
): Promise<boolean> {
  const namespace = inJurisdiction(env.SPEND_LEDGER, env.JURISDICTION);
  const name = `count ${purpose} ${site} ${textHash(group) % SHARDS}`;
  const counter = namespace.getByName(name) as unknown as SpendLedgerRpc;
  return counter.count(counts.map(({ key, limit }) => ({ key: `${purpose} ${site} ${key}`, limit, windowMs })));
}
