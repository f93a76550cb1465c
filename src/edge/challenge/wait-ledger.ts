/**
 * Asks the service whether one more visitor may pass by waiting. Its ledger counts for all isolates; an isolate's own
 * count covers only that isolate.
 */
import type { EdgeEnvironment } from '../environment.ts';

/** The visitor has waited for twelve seconds already. */
const TIMEOUT_MS = 2000;

export interface LedgerPorts {
  environment: Pick<EdgeEnvironment, 'rules'>;
  service: { call(path: string, timeoutMs: number, body: string): Promise<Response> };
  count: (name: string) => void;
}

/** `null`: no ledger, or no answer in time. The isolate's own budget decides alone then. */
export async function askWaitLedger(
  { environment, service, count }: LedgerPorts,
  ticket: { id: string; bornAt: number; ip: string },
): Promise<boolean | null> {
  if (environment.rules.kind !== 'service') return null;
  try {
    const response = await service.call('/edge/v1/waits/take', TIMEOUT_MS, JSON.stringify(ticket));
    const { taken } = await response.json<{ taken?: unknown }>();
    if (response.status === 200 && typeof taken === 'boolean') return taken;
  } catch {
    // Counted below, like every other answer that is not one.
  }
  count('wait_ledger_failures');
  return null;
}
