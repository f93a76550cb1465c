/**
 * How many visitors may come in by waiting alone (design 5). Waiting costs a bot nothing, so ten
 * thousand that wait in parallel must not all get through: a network and a site have a budget,
 * counted exactly.
 */
import { countUse } from '../../store/spend-ledger/client/spend.ts';
import type { ServiceStore } from '../environment.ts';

const WINDOW_MS = 600_000;
/** Households without script behind one address, in ten minutes. */
const PER_PREFIX = 10;
/** Of all networks together: what a popular site's script-less visitors need, not what a botnet has. */
const PER_SITE = 300;

export async function waitAllowed(store: ServiceStore, siteKey: string, prefix: string): Promise<boolean> {
  if (!(await countUse(store, { key: `wait ${siteKey} ${prefix}`, limit: PER_PREFIX, windowMs: WINDOW_MS })))
    return false;
  return countUse(store, { key: `wait ${siteKey}`, limit: PER_SITE, windowMs: WINDOW_MS });
}
