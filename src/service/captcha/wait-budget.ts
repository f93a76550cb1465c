/**
 * How many visitors may come in by waiting alone. Waiting costs a bot nothing, so ten thousand bots that wait in
 * parallel must not all get through. Networks and a site each have a budget, counted exactly across all isolates. A
 * network uses up a tenth of the site's budget at most. When many together have used up the whole of it, a
 * reserve lets in one more of each.
 */
import { countUses } from '../../store/spend-ledger/client/count-uses.ts';
import type { ServiceStore } from '../environment.ts';
import { networksOf } from '../../address/networks.ts';
import { visitorTag } from '../../captcha/seal/visitor-tag.ts';
import type { Keyring } from '../../captcha/seal/keyring.ts';

export const WAIT_WINDOW_SECONDS = 600;
/** The start of the message to a visitor for whom the budget is spent. */
export const WAIT_BUDGET_SPENT = 'Too many visitors of this network came in by waiting';

/** Per site and window: the households without scripts behind one address. */
const WAITS_PER_NETWORK = 10;
/** Of a larger network around it, whatever its size: people without scripts are few. */
const WAITS_AROUND = 30;
/** Per window, of all networks together: enough for the visitors without scripts of a popular site, not for a botnet. */
const WAITS_PER_SITE = 300;
/** After that, one for each /16 or /48. */
const WAITS_IN_RESERVE = 300;

export async function waitAllowed(
  store: ServiceStore,
  site: string,
  networks: readonly NetworkTag[],
): Promise<boolean> {
  const around = networks.at(-1)!.tag;
  const uses = (group: string, counts: readonly { key: string; limit: number }[]): Promise<boolean> =>
    countUses(store, { purpose: 'wait', site, group, windowMs: WAIT_WINDOW_SECONDS * 1000 }, counts);
  const ofNetworks = networks.map(({ tag, times }) => ({
    key: tag,
    limit: Math.min(WAITS_PER_NETWORK * times, WAITS_AROUND),
  }));
  if (!(await uses(around, ofNetworks))) return false;
  if (await uses('site', [{ key: 'site', limit: WAITS_PER_SITE }])) return true;
  const first = await uses(around, [{ key: `reserve ${around}`, limit: 1 }]);
  return first && uses('site', [{ key: 'reserve', limit: WAITS_IN_RESERVE }]);
}

export interface NetworkTag {
  tag: string;
  /** How many times the bound of the visitor's own network this one has. */
  times: number;
}

/**
 * The networks of a visitor as a ledger counts them: keyed hashes, from their own network to the largest. What one of
 * them used is counted in one object together with what the largest used.
 */
export function networkTags(keyring: Keyring, day: number, ip: string | null): Promise<NetworkTag[]> {
  return Promise.all(
    networksOf(ip).map(async ({ prefix, times }) => ({ tag: await visitorTag(keyring, day, 'prefix', prefix), times })),
  );
}
