/**
 * The networks of a visitor as a ledger counts them: keyed hashes, from their own network to the largest. What one of
 * them used is counted in one object together with what the largest used.
 */
import { networksOf } from '../../address/networks.ts';
import { visitorTag } from '../../captcha/seal/visitor-tag.ts';
import type { Keyring } from '../../captcha/seal/keyring.ts';

export interface NetworkTag {
  tag: string;
  /** How many times the bound of the visitor's own network this one has. */
  times: number;
}

export function networkTags(keyring: Keyring, day: number, ip: string | null): Promise<NetworkTag[]> {
  return Promise.all(
    networksOf(ip).map(async ({ prefix, times }) => ({ tag: await visitorTag(keyring, day, 'prefix', prefix), times })),
  );
}
