/**
 * Whether the TLS client is of the family that the user agent names. The second part of a JA4 fingerprint hashes the
 * sorted list of ciphers, which a browser family changes once in years; extensions change more often and are not read.
 */
import type { ClaimedBrowser, Engine } from './claimed-browser.ts';

const CIPHERS_START = 11;
const CIPHERS_END = 23;
/** By hash of the cipher list over TCP. Over QUIC all of them offer the same three. */
const engineByCiphers: Readonly<Record<string, Engine>> = {
  '8daaf6152771': 'chromium',
  '5b57614c22b0': 'firefox',
  a09f3c656075: 'safari',
};

/** `ja4` in canonical form. These browsers speak TLS 1.3 and offer HTTP/2 or HTTP/3. */
export function contradictsTls(ja4: string | null, { engine, sendsFetchMetadata }: ClaimedBrowser): boolean {
  if (ja4 === null || engine === null) return false;
  const found = engineByCiphers[ja4.slice(CIPHERS_START, CIPHERS_END)];
  if (found !== undefined && found !== engine) return true;
  if (!sendsFetchMetadata) return false;
  const version = ja4.slice(1, 3);
  const protocol = ja4.slice(8, 10);
  return version !== '13' || (protocol !== 'h2' && protocol !== 'h3');
}
