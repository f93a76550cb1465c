/**
 * The host name of the page that a widget is on. An edge names it; otherwise it is the `Origin` header of the browser.
 * Where that is missing, or is this service's own (in the iframe of the widget), it is what the page says; such a host
 * name is marked as unverified and counts in the score. A page in Google's translator is the page it translates: the
 * translator serves nothing else under such a name.
 */
import type { Visitor } from '../visitor.ts';

interface PageHost {
  hostname: string;
  /** Only the page itself names this host. */
  unverified: boolean;
}

export function pageHost(
  visitor: Visitor,
  origin: string | null,
  currentUrl: string | undefined,
  serviceUrl: string,
): PageHost | null {
  if (visitor.host !== null) return named(hostnameOf(`http://${visitor.host}`), false);
  const own = hostnameOf(serviceUrl);
  const sender = origin === null || origin === 'null' ? null : hostnameOf(origin);
  if (sender !== null && new URL(origin ?? '').origin !== originOf(serviceUrl)) return named(sender, false);
  const claimed = currentUrl === undefined ? null : hostnameOf(currentUrl);
  if (claimed !== null) return named(claimed, claimed !== own);
  return sender === null ? null : named(sender, false);
}

function named(hostname: string | null, unverified: boolean): PageHost | null {
  return hostname === null ? null : { hostname, unverified };
}

function hostnameOf(url: string): string | null {
  try {
    const parsed = new URL(url);
    if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') return null;
    return untranslated(parsed.hostname.replace(/\.$/, '')) || null;
  } catch {
    return null;
  }
}

/** `my--shop-example-com.translate.goog` is `my-shop.example.com`: a dot becomes one hyphen, a hyphen becomes two. */
function untranslated(hostname: string): string {
  const label = /^([a-z0-9-]+)\.translate\.goog$/.exec(hostname)?.[1];
  return label === undefined ? hostname : label.replace(/--?/g, (mark) => (mark === '--' ? '-' : '.'));
}

function originOf(url: string): string | null {
  try {
    return new URL(url).origin;
  } catch {
    return null;
  }
}
