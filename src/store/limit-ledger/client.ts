/** How the service reaches the LimitLedger objects: eight for each instance, chosen by the counter's key. */
import type { LimitCounter, LimitSums, LimitTake, LimitTakings } from '../../contract/edge/limits.ts';
import { inJurisdiction } from '../jurisdiction.ts';
import { textHash } from '../text-hash.ts';
import type { LimitLedgerRpc } from './rpc.ts';

type LimitEnv = Pick<ServiceEnv, 'LIMIT_LEDGER' | 'JURISDICTION'>;

/** An object takes about 1,000 reports a second. More objects would mean more calls for each report. */
const SHARDS = 8;

export function countLimits(
  env: LimitEnv,
  instanceId: string,
  windowMs: number,
  counters: readonly LimitCounter[],
): Promise<LimitSums> {
  return byShard(counters, (shard, part) => ledger(env, instanceId, shard).add(windowMs, part));
}

/** An object that fails costs only the takes of its own keys. */
export function takeFromLedger(env: LimitEnv, instanceId: string, takes: readonly LimitTake[]): Promise<LimitTakings> {
  return byShard(takes, async (shard, part): Promise<LimitTakings> => {
    try {
      return await ledger(env, instanceId, shard).take(part);
    } catch (error) {
      console.error(JSON.stringify({ level: 'error', event: 'limit-take-failed', message: String(error) }));
      return part.map(() => null);
    }
  });
}

/** One call for each object. The answers are in the order of the questions. */
async function byShard<Question extends { key: string }, Answer>(
  questions: readonly Question[],
  ask: (shard: number, part: readonly Question[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const indexes = Map.groupBy(questions.keys(), (index) => textHash(questions[index]!.key) % SHARDS);
  const answers: Answer[] = [];
  const asking = [...indexes].map(async ([shard, places]) => {
    const part = await ask(
      shard,
      places.map((place) => questions[place]!),
    );
    places.forEach((place, index) => (answers[place] = part[index]!));
  });
  await Promise.all(asking);
  return answers;
}

function ledger({ LIMIT_LEDGER, JURISDICTION }: LimitEnv, instanceId: string, shard: number): LimitLedgerRpc {
  const name = `${instanceId}/${shard}`;
  return inJurisdiction(LIMIT_LEDGER, JURISDICTION).getByName(name) as unknown as LimitLedgerRpc;
}
