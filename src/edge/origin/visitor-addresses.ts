/**
 * Addresses in the headers of a response, as the visitor may see them. An origin behind the gate often does not know the
 * public name, and must not send visitors past the gate, nor tell them where it is.
 */
import type { OriginTarget } from '../environment.ts';
import type { CanonicalTarget } from '../request/canonical-path.ts';

/** What a header has before, as and after an address (RFC 9110 section 10.2.2, RFC 8288, HTML section 4.2.5.3). */
const ADDRESSED: readonly [name: string, address: RegExp][] = [
  ['location', /^()([^]*)()$/],
  ['content-location', /^()([^]*)()$/],
  ['refresh', /^([^;,]*[;,]\s*(?:url\s*=\s*)?["']?)([^"']+)()/i],
  ['link', /(<)([^<>]*)(>)/g],
];
const NAMES_A_HOST = /^\s*(?:https?:)?[/\\]{2}/i;

/** `Alt-Svc` offers another way to the origin itself, on which nothing would pass the gate. */
export function showVisitorAddresses(headers: Headers, target: CanonicalTarget, origin: OriginTarget): void {
  if (origin.kind === 'zone') return;
  headers.delete('alt-svc');
  for (const [name, pattern] of ADDRESSED) {
    const value = headers.get(name);
    const shown = value?.replace(
      pattern,
      (_, before: string, address: string, after: string) =>
        `${before}${visitorAddress(address, target, origin)}${after}`,
    );
    if (shown !== undefined && shown !== value) headers.set(name, shown);
  }
}

/** The same address, except where it names the origin. */
export function visitorAddress(address: string, target: CanonicalTarget, { base }: { base: string | null }): string {
  if (base === null || !NAMES_A_HOST.test(address) || !URL.canParse(address, base)) return address;
  const named = new URL(address, base);
  const { host, pathname } = new URL(base);
  if (withoutDot(named) !== host || host === target.host) return address;
  const basePath = pathname.replace(/\/$/, '');
  if (!`${named.pathname}/`.startsWith(`${basePath}/`)) return address;
  const path = named.pathname.slice(basePath.length) || '/';
  return `${target.scheme}://${target.host}${path}${named.search}${named.hash}`;
}

/** A full name may end with a dot. */
function withoutDot({ host }: URL): string {
  return host.replace(/\.(?=:|$)/, '');
}
