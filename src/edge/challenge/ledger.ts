/**
 * The service's ledger: whether something that may happen once, or a few times, may happen now. It counts for all
 * isolates; an isolate's own memory covers only that isolate.
 */
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import type { EdgeEnvironment } from '../environment.ts';

/** A person waits for the answer. */
const TIMEOUT_MS = 3000;
/** `{"spent": true}`, with room. */
const ANSWER_MAX_BYTES = 1024;

export interface LedgerPorts {
  environment: Pick<EdgeEnvironment, 'rules'>;
  service: { call: (path: string, timeoutMs: number, body: string) => Promise<Response> };
  count: (name: string) => void;
}

export interface LedgerQuestion {
  path: string;
  /** The answer's field that holds `true` or `false`. */
  field: string;
  body: object;
  /** Counted where the ledger did not answer. */
  failure: string;
}

/** `null`: there is no ledger, or no answer in time. */
export async function askLedger(
  { environment, service, count }: LedgerPorts,
  { path, field, body, failure }: LedgerQuestion,
): Promise<boolean | null> {
  if (environment.rules.kind !== 'service') return null;
  try {
    const response = await service.call(path, TIMEOUT_MS, JSON.stringify(body));
    const bytes = response.body && (await readBounded(response.body, ANSWER_MAX_BYTES));
    const answer = response.status === 200 && bytes?.ok ? parseJson(bytes.value) : null;
    const value = isJsonObject(answer) ? answer[field] : null;
    if (typeof value === 'boolean') return value;
  } catch {
    // Counted below, like every other answer that is not one.
  }
  count(failure);
  return null;
}
