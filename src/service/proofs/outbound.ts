/**
 * What the service may fetch on behalf of strangers. A `Signature-Agent` is anybody's text, so only public hosts are
 * fetched: https, the standard port, a name with a dot, and no address of a private network behind it.
 */
import { parseIp, singleNetwork } from '../../address/ip.ts';
import { isLoopback } from '../../contract/management/outbound-address.ts';
import { isReserved } from '../../address/reserved.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { resolveName } from './dns-over-https.ts';

export interface OutboundFault {
  kind: 'host' | 'dns' | 'private-address' | 'unreachable' | 'status' | 'too-large';
}

interface OutboundAnswer {
  headers: Headers;
  body: Uint8Array<ArrayBuffer>;
}

const TIMEOUT_MS = 5000;
const LOCAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|private|arpa|onion|alt|invalid)$/;

/** One GET that follows no redirect. Only 200 is an answer. */
export async function fetchPublic(
  url: string,
  accept: string,
  maxBytes: number,
  settings: OutboundSettings,
): Promise<Result<OutboundAnswer, OutboundFault>> {
  const place = await publicPlaceOf(new URL(url), settings);
  if (!place.ok) return place;
  try {
    const response = await fetch(place.value, {
      redirect: 'manual',
      headers: { accept, 'user-agent': 'Gatehouse' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      return failed({ kind: 'status' });
    }
    const body = await readBounded(response.body, maxBytes, { timeoutMs: TIMEOUT_MS });
    if (!body.ok) return failed({ kind: body.error.kind === 'too-large' ? 'too-large' : 'unreachable' });
    return ok({ headers: response.headers, body: body.value });
  } catch {
    return failed({ kind: 'unreachable' });
  }
}

/** Where a host may be called: its own address, or that of its stand-in. A server of the same machine speaks http. */
export async function publicPlaceOf(
  url: URL,
  { standIns, resolverUrl, allowsLoopback }: OutboundSettings,
): Promise<Result<string, OutboundFault>> {
  const standIn = standIns.get(url.host);
  if (standIn !== undefined) return ok(standIn + url.pathname + url.search);
  if (allowsLoopback && isLoopback(url)) return ok(`http://${url.host}${url.pathname}${url.search}`);
  const { hostname } = url;
  const isAddress = hostname.startsWith('[') || parseIp(hostname) !== null;
  if (url.protocol !== 'https:' || url.port !== '' || isAddress) return failed({ kind: 'host' });
  if (!hostname.includes('.') || LOCAL_NAME.test(hostname.replace(/\.$/, ''))) return failed({ kind: 'host' });
  const answers = await Promise.all([
    resolveName(resolverUrl, hostname, 'A'),
    resolveName(resolverUrl, hostname, 'AAAA'),
  ]);
  // The owner of a name can answer for one family only, and lead the fetch to the other.
  const found = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  if (found.length < answers.length) return failed({ kind: 'dns' });
  const addresses = found.flatMap(({ records }) => records);
  if (addresses.length === 0) return failed({ kind: 'dns' });
  return addresses.every(isPublicAddress) ? ok(url.href) : failed({ kind: 'private-address' });
}

function isPublicAddress(text: string): boolean {
  const address = parseIp(text);
  return address !== null && !isReserved(singleNetwork(address));
}
