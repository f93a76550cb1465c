/**
 * The service of `npm run bench -- neighbours`, with three changes. Each call tells it the time. Its proofs of work have the
 * number of their task as their answer: what is measured is what they cost, and solving them all would take hours. And
 * its log keeps no rows, because an object's alarm, which seals them, knows only the time of the machine.
 */
import { RswMinter } from '../../src/captcha/pow/rsw-mint.ts';
import { RSW_MODULUS_BYTES, squaringsOf } from '../../src/captcha/pow/rsw-key.ts';
import service, { VerdictShard as RealShard } from '../../src/service/index.ts';
import type { BatchAnswer, PackedBatch } from '../../src/store/event-log/packed-batch.ts';
import { SERVICE_TIME, setTime } from './neighbours/virtual-time.ts';

export { AttackWatch, LimitLedger, RiskBook, RuleBook, SpendLedger } from '../../src/service/index.ts';

export class VerdictShard extends RealShard {
  override async append(batches: PackedBatch[]): Promise<BatchAnswer[]> {
    return batches.map(() => ({ known: [], conflicting: 0 }));
  }
}

let toldMs: number | null = null;
const machineNow = Date.now;
setTime(() => toldMs ?? machineNow());

RswMinter.prototype.mint = (level) => {
  const x = crypto.getRandomValues(new Uint8Array(RSW_MODULUS_BYTES));
  return { t: squaringsOf(level), x, y: x };
};

export default {
  ...service,
  fetch(request: Request, env: ServiceEnv, context: ExecutionContext) {
    const told = request.headers.get(SERVICE_TIME);
    if (told !== null) toldMs = Number(told);
    return service.fetch(request, env, context);
  },
};
