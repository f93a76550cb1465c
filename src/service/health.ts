/**
 * `GET /health`: whether the service answers, and whether something needs an operator. Anyone may ask, so it names no
 * account and no instance; `GET /protect/metrics` does.
 */
import { refusedObjects, ruleFailures } from '../store/d1/object-failures.ts';
import type { StoreEnv } from '../store/binding.ts';

export async function serviceHealth(store: StoreEnv, nowMs: number): Promise<Response> {
  const warnings: string[] = [];
  try {
    const failures = await ruleFailures(store);
    const instances = new Set(failures.filter(({ step }) => step !== 'file').map(({ instanceId }) => instanceId)).size;
    if (instances > 0) {
      warnings.push(
        `The newest access rules of ${instances} instance(s) cannot be compiled or sent to their edges: the log says why.`,
      );
    }
    const damaged = failures.filter(({ step }) => step === 'file').length;
    if (damaged > 0) {
      warnings.push(
        `The stored rules of ${damaged} instance(s) were damaged or gone from R2 and are compiled again: the log names them.`,
      );
    }
    for (const { object, age, objects } of await refusedObjects(store, nowMs)) {
      warnings.push(
        `${objects} ${object} object(s) hold state of a version that is ${age} than this one can read, and refuse calls: the log names them.`,
      );
    }
  } catch {
    warnings.push('The database does not answer.');
  }
  const status = warnings.length === 0 ? { status: 'ok' } : { status: 'degraded', warnings };
  return Response.json(status, { headers: { 'cache-control': 'no-store' } });
}
