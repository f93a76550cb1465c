/**
 * The Worker that fills the log for `npm run bench -- console`: the service with two more routes, which write verdicts
 * as sealing leaves them. The measured service is the real one, started afterwards over the same storage.
 */
import service from '../../src/service/index.ts';
import { counterShardName } from '../../src/store/event-log/client/shards.ts';
import { verdictLogOf } from '../../src/store/event-log/client/verdict-log.ts';
import { restarted } from './loaded-shard.ts';
import type { VerdictShard } from './log-shard.ts';
import type { RecordSpan } from './log-traffic.ts';

export { RiskBook, RuleBook, SpendLedger } from '../../src/service/index.ts';
export { VerdictShard } from './log-shard.ts';

interface BenchEnv extends Omit<ServiceEnv, 'VERDICT_SHARD'> {
  VERDICT_SHARD: DurableObjectNamespace<VerdictShard>;
}

export default {
  async fetch(request, env, context) {
    const { pathname } = new URL(request.url);
    if (pathname !== '/bench/load' && pathname !== '/bench/restart') return service.fetch(request, env, context);
    const { instanceId, span } = await request.json<{ instanceId: string; span: RecordSpan }>();
    const name = counterShardName(verdictLogOf({ id: instanceId }));
    const shard = env.VERDICT_SHARD.get(env.VERDICT_SHARD.idFromName(name));
    if (pathname === '/bench/load') await shard.load(span);
    else await restarted(shard);
    return new Response(null, { status: 204 });
  },
} satisfies ExportedHandler<BenchEnv>;
