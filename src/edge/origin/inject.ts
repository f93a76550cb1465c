/**
 * Puts the protect script into allowed HTML documents, with the page's own CSP nonce. Only the beginning of a page is
 * read; everything behind the script passes as it came. A page without a safe place for a script passes untouched, to
 * the byte, and is counted.
 */
import { assetHashes } from '../../widget/bundle.generated.ts';
import type { RequestFacts } from '../request/facts.ts';
import { scriptPlace } from './script-place.ts';
import type { ScriptPlace } from './script-place.ts';

const hash = assetHashes['protect.js'];
const NONCE = /'nonce-([A-Za-z0-9+/_-]+={0,2})'/;
/** Directives that apply to a script element (CSP 3 section 6.8.1), first to last. A style's nonce does not count. */
const SCRIPT_SOURCES = ['script-src-elem', 'script-src', 'default-src'].map(
  (name) => new RegExp(`(?:^|[;,])\\s*${name}\\s([^;,]*)`, 'i'),
);
/** What the runtime decodes and encodes again. */
const READABLE_ENCODING = /^(?:gzip|br|identity)?$/i;
/** Comments before the head are short. */
const BEGINNING_MAX_BYTES = 16 * 1024;
/** Where browsers look for the charset that a page names itself (HTML section 13.2.3.2). */
const CHARSET_WITHIN_BYTES = 1024;
/** They are about the bytes that the origin sent. */
const ABOUT_BYTES = ['content-length', 'content-digest', 'repr-digest', 'digest', 'content-md5'];

/** One character for each byte. */
const latin1 = new TextDecoder('latin1');

type Count = (name: string) => void;

export function injectProtectScript(
  response: Response,
  facts: RequestFacts,
  count: Count,
): Response | Promise<Response> {
  if (!hash || !isWholeDocument(facts, response)) return response;
  const { headers } = response;
  if (!READABLE_ENCODING.test(headers.get('content-encoding') ?? '')) return untouched(response, count, 'encoding');
  const nonce = scriptNonce(headers.get('content-security-policy'));
  const tag = `<script src="/__protect/protect.js?v=${hash}"${nonce ? ` nonce="${nonce}"` : ''} async></script>`;
  return injected(response, tag, count);
}

function untouched(response: Response, count: Count, reason: 'encoding' | 'charset' | 'markup'): Response {
  count(`scripts_not_injected{reason="${reason}"}`);
  return response;
}

async function injected(response: Response, tag: string, count: Count): Promise<Response> {
  // The original stays unread until there is a place: the runtime can still pass on its very bytes, compressed or not.
  const copy = response.clone().body!;
  const reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> = copy.getReader();
  const isCharsetSent = /charset/i.test(response.headers.get('content-type') ?? '');
  const wantedBytes = isCharsetSent ? 1 : CHARSET_WITHIN_BYTES;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let text = '';
  let place: ScriptPlace = 'need-more';
  while (place !== 'no-document' && text.length < (place === 'need-more' ? BEGINNING_MAX_BYTES : wantedBytes)) {
    // A body that is not what its encoding says has no place, and a browser may still make something of it.
    const chunk = await reader.read().catch(() => null);
    if (!chunk?.value) break;
    chunks.push(chunk.value);
    text += latin1.decode(chunk.value);
    if (place === 'need-more') place = scriptPlace(text);
  }
  if (typeof place === 'string' || (!isCharsetSent && wouldHideCharset(text, tag))) {
    void reader.cancel();
    return untouched(response, count, typeof place === 'string' ? 'markup' : 'charset');
  }
  void response.body!.cancel();
  const { readable, writable } = new IdentityTransformStream();
  const beginning = new Blob(chunks);
  reader.releaseLock();
  void pour(new Blob([beginning.slice(0, place), tag, beginning.slice(place)]), copy, writable);
  const changed = new Response(readable, response);
  const { headers } = changed;
  for (const name of ABOUT_BYTES) headers.delete(name);
  const etag = headers.get('etag');
  if (etag !== null && !etag.startsWith('W/')) headers.set('etag', `W/${etag}`);
  return changed;
}

/** Whether the page may name its charset where browsers look for it, and would no longer do so behind the tag. */
function wouldHideCharset(text: string, tag: string): boolean {
  // More than one element can have a charset, and the wrong one may come first.
  const named = text.slice(0, CHARSET_WITHIN_BYTES).matchAll(/charset[^>]*>/gi);
  return [...named].some((found) => found.index + found[0].length + tag.length > CHARSET_WITHIN_BYTES);
}

/** A visitor who leaves, or an origin that hangs up, ends both sides. */
async function pour(beginning: Blob, rest: ReadableStream, into: WritableStream): Promise<void> {
  try {
    await beginning.stream().pipeTo(into, { preventClose: true });
    await rest.pipeTo(into);
  } catch (error) {
    await rest.cancel(error).catch(() => undefined);
  }
}

function scriptNonce(policy: string | null): string | undefined {
  if (policy === null) return undefined;
  for (const directive of SCRIPT_SOURCES) {
    const sources = directive.exec(policy)?.[1];
    if (sources !== undefined) return NONCE.exec(sources)?.[1];
  }
  return undefined;
}

/**
 * What the request asked for comes first, then the check that most responses fail: each look into `Headers` crosses into
 * the runtime.
 */
function isWholeDocument({ headers: { method, fetchDest } }: RequestFacts, response: Response): boolean {
  if (method !== 'GET') return false;
  if (fetchDest !== null && fetchDest !== 'document' && fetchDest !== 'iframe') return false;
  const { headers } = response;
  return (
    /^text\/html\b/i.test(headers.get('content-type') ?? '') &&
    response.status === 200 &&
    response.body !== null &&
    !/attachment/i.test(headers.get('content-disposition') ?? '') &&
    !headers.has('content-range') &&
    !/\bno-transform\b/i.test(headers.get('cache-control') ?? '')
  );
}
