/**
 * Requests as a browser sends them. `fetch` in Node names itself and sends `Sec-Fetch-Mode: cors` whatever it is told,
 * which the gate's detectors take for what it is. These have a Firefox's headers, except where a test sets its own.
 */
import { Buffer } from 'node:buffer';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0';

export interface BrowseInit {
  method?: string;
  /** Instead of the browser's, by lower-case name. `null` leaves one out. */
  headers?: Readonly<Record<string, string | null>>;
  body?: string | Uint8Array | URLSearchParams;
}

const everyRequest = {
  'user-agent': FIREFOX,
  'accept-language': 'en-US,en;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
};
/** The address bar, a link or a form. */
export const navigation = {
  ...everyRequest,
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'upgrade-insecure-requests': '1',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'none',
  'sec-fetch-user': '?1',
};
/** A page's own script. */
const scripted = {
  accept: '*/*',
  'sec-fetch-dest': 'empty',
  'sec-fetch-mode': 'cors',
  'sec-fetch-site': 'same-origin',
};

/** A request of a page's script to `/api` or to the gate's own endpoints, a navigation to anything else. */
export function browse(url: string, { method = 'GET', headers = {}, body }: BrowseInit = {}): Promise<Response> {
  const { pathname } = new URL(url);
  const isScripted = /^\/(?:api|__protect)\//.test(pathname) && pathname !== '/__protect/wait';
  const ofForm = body instanceof URLSearchParams ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
  const all: Record<string, string | null> = {
    ...everyRequest,
    ...(isScripted ? scripted : navigation),
    ...ofForm,
    ...headers,
  };
  const sent = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null));
  const bytes = body instanceof Uint8Array ? body : Buffer.from(body?.toString() ?? '');
  if (bytes.length > 0) sent['content-length'] = String(bytes.length);
  return new Promise((resolve, reject) => {
    const call = httpRequest(url, { method, headers: sent }, (incoming) => {
      responseOf(incoming, method).then(resolve, reject);
    });
    call.once('error', reject);
    call.end(bytes);
  });
}

async function responseOf(incoming: IncomingMessage, method: string): Promise<Response> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const status = incoming.statusCode ?? 0;
  const headers = new Headers();
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    headers.append(incoming.rawHeaders[at]!, incoming.rawHeaders[at + 1]!);
  }
  const isEmpty = method === 'HEAD' || status === 204 || status === 304;
  return new Response(isEmpty ? null : decoded(Buffer.concat(chunks), headers.get('content-encoding')), {
    status,
    headers,
  });
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

function decoded(bytes: Buffer, coding: string | null): Uint8Array<ArrayBuffer> {
  return new Uint8Array(decoders[coding ?? '']?.(bytes) ?? bytes);
}
