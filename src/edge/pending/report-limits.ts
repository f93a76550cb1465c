/** Reports counts to the service's `LimitLedger` and reads the sums of all isolates. */
import type { LimitCounter, LimitSums } from '../../contract/edge/limits.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';

/** Behind a response, so nobody waits for it. */
const TIMEOUT_MS = 3000;
/** Two numbers for each counter. */
const ANSWER_MAX_BYTES = 8192;

export interface LimitService {
  call: (path: string, timeoutMs: number, body: string) => Promise<Response>;
}

/** `null`: no answer, or none that fits the question. */
export async function reportLimits(
  service: LimitService,
  windowMs: number,
  counters: readonly LimitCounter[],
): Promise<LimitSums | null> {
  try {
    const response = await service.call('/edge/v1/limits/report', TIMEOUT_MS, JSON.stringify({ windowMs, counters }));
    const bytes = response.body && (await readBounded(response.body, ANSWER_MAX_BYTES));
    const answer = response.status === 200 && bytes?.ok ? parseJson(bytes.value) : null;
    const sums = isJsonObject(answer) ? answer['sums'] : null;
    return isSums(sums) && sums.length === counters.length ? sums : null;
  } catch {
    return null;
  }
}

function isSums(value: unknown): value is LimitSums {
  return (
    Array.isArray(value) &&
    value.every(
      (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((sum) => Number.isSafeInteger(sum) && sum >= 0),
    )
  );
}
