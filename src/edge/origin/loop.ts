/**
 * Loop detection: a request that already bears a signature under this instance's key id came out of this gate, so
 * `ORIGIN_URL` leads back to it. Only the key id is compared: visitors who forge it get an error for themselves alone.
 */
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { HeaderFacts } from '../request/header-facts.ts';

export function isOwnLoop({ signature }: Pick<HeaderFacts, 'signature'>, config: CompiledConfig): boolean {
  return signature !== null && signature.includes(`,kid=${config.keys.current.kid},`);
}
