/**
 * Asks the service whether one more visitor may come in by waiting: its ledger counts for all isolates,
 * what an isolate counts alone is only as good as that isolate.
 */
import type { Edge } from '../isolate/edge.ts';

/** The visitor has waited for twelve seconds already. */
const TIMEOUT_MS = 2000;

export type WaitLedger = Pick<Edge, 'environment' | 'service' | 'count'>;

/** `null`: nobody to ask, or no answer in time; the isolate's own budget decides alone (design 8). */
export async function askWaitLedger(
  { environment, service, count }: WaitLedger,
  ticket: { id: string; bornAt: number; ip: string },
): Promise<boolean | null> {
  if (environment.rules.kind !== 'service') return null;
  try {
    const answer = await service.call('/edge/v1/waits/take', TIMEOUT_MS, JSON.stringify(ticket));
    const { taken } = await answer.json<{ taken?: unknown }>();
    if (answer.status === 200 && typeof taken === 'boolean') return taken;
  } catch {
    // Counted below, as any other answer that is none.
  }
  count('wait_ledger_failures');
  return null;
}
