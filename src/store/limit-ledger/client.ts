/** How the service reaches the LimitLedger objects: eight for each instance, chosen by the counter's key. */
import type { LimitCounter, LimitSums } from '../../contract/edge/limits.ts';
import { inJurisdiction } from '../jurisdiction.ts';
import { textHash } from '../text-hash.ts';
import type { LimitLedgerRpc } from './rpc.ts';

type LimitEnv = Pick<ServiceEnv, 'LIMIT_LEDGER' | 'JURISDICTION'>;

/** An object takes about 1,000 reports a second. More objects would mean more calls for each report. */
const SHARDS = 8;

export async function countLimits(
  env: LimitEnv,
  instanceId: string,
  windowMs: number,
  counters: readonly LimitCounter[],
): Promise<LimitSums> {
  const byShard = Map.groupBy(counters.keys(), (index) => textHash(counters[index]!.key) % SHARDS);
  const sums: [number, number][] = counters.map(() => [0, 0]);
  const adding = [...byShard].map(async ([shard, indexes]) => {
    const part = await ledger(env, `${instanceId}/${shard}`).add(
      windowMs,
      indexes.map((index) => counters[index]!),
    );
    indexes.forEach((index, position) => {
      const [before, now] = part[position]!;
      sums[index] = [before, now];
    });
  });
  await Promise.all(adding);
  return sums;
}

function ledger({ LIMIT_LEDGER, JURISDICTION }: LimitEnv, name: string): LimitLedgerRpc {
  return inJurisdiction(LIMIT_LEDGER, JURISDICTION).getByName(name) as unknown as LimitLedgerRpc;
}
