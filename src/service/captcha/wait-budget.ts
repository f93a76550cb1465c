/**
 * How many visitors may come in by waiting alone. Waiting costs a bot nothing, so ten thousand bots that wait in
 * parallel must not all get through. A network and a site each have a budget, counted exactly across all isolates.
 */
import { countUse } from '../../store/spend-ledger/client/spend.ts';
import type { ServiceStore } from '../environment.ts';

export const WAIT_WINDOW_SECONDS = 600;
/** The start of the message to a visitor for whom the budget is spent. */
export const WAIT_BUDGET_SPENT = 'Too many visitors of this network came in by waiting';

/** Per site and window: the households without scripts behind one address. */
const WAITS_PER_PREFIX = 10;
/** Per window, of all networks together: enough for the visitors without scripts of a popular site, not for a botnet. */
const WAITS_PER_SITE = 300;

/** `prefix`: the keyed hash of the visitor's network. */
export async function waitAllowed(store: ServiceStore, siteKey: string, prefix: string): Promise<boolean> {
  const windowMs = WAIT_WINDOW_SECONDS * 1000;
  const perPrefix = { key: `wait ${siteKey} ${prefix}`, limit: WAITS_PER_PREFIX, windowMs };
  const perSite = { key: `wait ${siteKey}`, limit: WAITS_PER_SITE, windowMs };
  return (await countUse(store, perPrefix)) && countUse(store, perSite);
}
