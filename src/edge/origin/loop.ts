/**
 * Loop detection (issue 4, point 8): a request that already bears a signature under this instance's
 * key id came out of this gate, so `ORIGIN_URL` leads back to it. Only the key id is compared: a
 * visitor who forges it gets an error for himself and nothing else.
 */
import type { CompiledConfig } from '../feed/compiled-config.ts';
import type { HeaderFacts } from '../request/header-facts.ts';

export function isOwnLoop({ signature }: HeaderFacts, config: CompiledConfig): boolean {
  return signature !== null && signature.includes(`,kid=${config.keys.current.kid},`);
}
