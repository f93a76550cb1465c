/**
 * Host names that a site may be used on. A plain domain covers itself and its subdomains, `*.x` the same with the apex.
 * Localhost is always allowed, so that no site is opened up for a test.
 */

/** Longest host name DNS can carry, in characters. */
const HOSTNAME_MAX_CHARS = 253;
const LABELS = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * The stored form: lower case, without scheme, leading `www.`, trailing slash and port, international names converted.
 * `null` for anything that is not a host name: a bare `*`, a path, an inner wildcard.
 */
export function normaliseDomain(input: string): string | null {
  let text = input.trim().toLowerCase();
  text = text.replace(/^https?:\/\//, '').replace(/\/$/, '');
  const wildcard = text.startsWith('*.');
  if (wildcard) text = text.slice(2);
  else text = text.replace(/^www\./, '');
  if (text === '' || /[\s\p{Cc}*/\\?#@%]/u.test(text)) return null;
  const host = parseHost(text);
  if (host === null) return null;
  if (host.startsWith('[')) return wildcard ? null : host;
  if (host.length > HOSTNAME_MAX_CHARS || !LABELS.test(host)) return null;
  return wildcard ? `*.${host}` : host;
}

/** A host name as `URL.hostname` spells it, without port and last dot; `null` for anything else. */
export function canonicalHostname(text: string): string | null {
  return text === '' || /[\s*/\\?#@%]/.test(text) ? null : parseHost(text);
}

function parseHost(text: string): string | null {
  try {
    const hostname = new URL(`http://${text}`).hostname.replace(/\.$/, '');
    return hostname === '' ? null : hostname;
  } catch {
    return null;
  }
}

/** Loopback names do not count against a plan and are allowed on every site. */
export function isLocalHostname(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

/** Whether a page on `hostname` (as `URL.hostname` spells it) may use a site with these domains. */
export function hostnameAllowed(hostname: string, domains: readonly string[]): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, '');
  if (host === '') return false;
  if (isLocalHostname(host)) return true;
  return domains.some((entry) => {
    const domain = entry.startsWith('*.') ? entry.slice(2) : entry;
    return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
  });
}
