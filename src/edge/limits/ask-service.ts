/** The edge's calls to the service's `LimitLedger`: reports behind responses, and takes that a request waits for. */
import type { LimitCounter, LimitSums, LimitTake, LimitTakings } from '../../contract/edge/limits.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';

/** Behind a response, so nobody waits for it. */
const REPORT_TIMEOUT_MS = 3000;
/** A request waits. The object may be on another continent, or starting. */
const TAKE_TIMEOUT_MS = 3000;
/** Some numbers for each counter. */
const ANSWER_MAX_BYTES = 8192;

export interface LimitService {
  call: (path: string, timeoutMs: number, body: string) => Promise<Response>;
}

/** `null`: no answer, or none that fits the question. `refused`: the service takes no such report, now or later. */
export async function reportLimits(
  service: LimitService,
  counters: readonly LimitCounter[],
): Promise<LimitSums | 'refused' | null> {
  const body = { windowMs: counters[0]?.windowMs, counters };
  const sums = await answerOf(service, 'report', 'sums', REPORT_TIMEOUT_MS, body);
  if (sums === 'refused') return sums;
  return isList(sums, counters.length, (pair) => isNumbers(pair, 2)) ? (sums as unknown as LimitSums) : null;
}

/** `null`: no answer, or none that fits the question. */
export async function takeLimits(service: LimitService, takes: readonly LimitTake[]): Promise<LimitTakings | null> {
  const takings = await answerOf(service, 'take', 'takings', TAKE_TIMEOUT_MS, { takes });
  const isAnswer = isList(takings, takes.length, (one) => one === null || isNumbers(one, 3));
  return isAnswer ? (takings as unknown as LimitTakings) : null;
}

async function answerOf(
  service: LimitService,
  call: string,
  field: string,
  timeoutMs: number,
  body: object,
): Promise<unknown> {
  try {
    const response = await service.call(`/edge/v1/limits/${call}`, timeoutMs, JSON.stringify(body));
    if (response.status === 400) return 'refused';
    const bytes = response.body && (await readBounded(response.body, ANSWER_MAX_BYTES));
    const answer = response.status === 200 && bytes?.ok ? parseJson(bytes.value) : null;
    return isJsonObject(answer) ? answer[field] : null;
  } catch {
    return null;
  }
}

function isList(value: unknown, length: number, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.length === length && value.every(isItem);
}

function isNumbers(value: unknown, length: number): boolean {
  return isList(value, length, (number) => Number.isSafeInteger(number) && (number as number) >= 0);
}
