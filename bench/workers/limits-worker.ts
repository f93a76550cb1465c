/** The Worker of `npm run bench -- limits`: takes from exact limits as the service does, and fills the ledger with keys. */
import { textHash } from '../../src/store/text-hash.ts';
import { takeFromLedger } from '../../src/store/limit-ledger/client.ts';
import { LimitLedger as RealLedger } from '../../src/store/limit-ledger/object/limit-ledger.ts';

type LimitsWork =
  | { part: 'bare' | 'take' | 'refused'; key: string }
  | { part: 'fill'; from: number; to: number }
  | { part: 'sizes' };

/** Of the service's client. */
const SHARDS = 8;
const TAKES_PER_CALL = 1000;
const DAY_MS = 86_400_000;
const INSTANCE = 'bench';

export class LimitLedger extends RealLedger {
  nothing(): null {
    return null;
  }

  size(): { bytes: number; kept: number } {
    const { sql } = this.ctx.storage;
    return { bytes: sql.databaseSize, kept: sql.exec<{ n: number }>('SELECT COUNT(*) AS n FROM allowances').one().n };
  }
}

interface BenchEnv extends Omit<ServiceEnv, 'LIMIT_LEDGER'> {
  LIMIT_LEDGER: DurableObjectNamespace<LimitLedger>;
}

const take = (key: string, count = 10) => ({ key, algorithm: 'sliding' as const, count, windowMs: DAY_MS, asked: 1 });

export default {
  async fetch(request: Request, env: BenchEnv): Promise<Response> {
    const work: LimitsWork = await request.json();
    const store = env as unknown as ServiceEnv;
    switch (work.part) {
      case 'bare':
        await env.LIMIT_LEDGER.getByName(`${INSTANCE}/${textHash(work.key) % SHARDS}`).nothing();
        return Response.json({});
      case 'take':
        return Response.json(await takeFromLedger(store, INSTANCE, [take(work.key, 1_000_000)]));
      case 'refused':
        return Response.json(await takeFromLedger(store, INSTANCE, [take(work.key, 1)]));
      case 'fill':
        for (let from = work.from; from < work.to; from += TAKES_PER_CALL) {
          const keys = Array.from({ length: Math.min(TAKES_PER_CALL, work.to - from) }, (_, index) =>
            keyOf(from + index),
          );
          await takeFromLedger(
            store,
            INSTANCE,
            keys.map((key) => take(key)),
          );
        }
        return Response.json({});
      case 'sizes': {
        const names = Array.from({ length: SHARDS }, (_, shard) => `${INSTANCE}/${shard}`);
        const sizes = await Promise.all(names.map((name) => env.LIMIT_LEDGER.getByName(name).size()));
        const sum = (of: 'bytes' | 'kept') => sizes.reduce((total, size) => total + size[of], 0);
        return Response.json({ bytes: sum('bytes'), kept: sum('kept') });
      }
    }
  },
};

/** As long and as scattered as a signed key. */
function keyOf(index: number): string {
  const spread = (salt: string) => textHash(`${salt}${index}`).toString(36).padStart(8, '0').slice(0, 8);
  return spread('a') + spread('b');
}
