/**
 * Puts the protect script into allowed HTML pages, with the page's own CSP nonce. Only the beginning of a page is read;
 * everything behind the script passes as it came. A page without a safe place for a script, or with a policy under which
 * it could open no session, passes untouched, to the byte, and is counted. A page gets the script whatever it was asked for as, so that a cache can keep one for all.
 */
import { assetHashes } from '../../widget/bundle.generated.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { Count } from '../feed/upstream.ts';
import type { RequestFacts } from '../request/facts.ts';
import { isNavigation } from '../request/header-facts.ts';
import { readPagePolicy, type PolicyObstacle } from './page-policy.ts';

const hash = assetHashes['protect.js'];
/** What the runtime decodes and encodes again. */
const READABLE_ENCODING = /^(?:gzip|br|identity)?$/i;
/** Comments before the head are short. */
const BEGINNING_MAX_BYTES = 16 * 1024;
/** Where browsers look for the charset that a page names itself (HTML section 13.2.3.2). */
const CHARSET_WITHIN_BYTES = 1024;
/**
 * A compressed page may prove to be corrupt behind its beginning. Up to this size it then passes as the origin sent it;
 * a page that is written bit by bit does not wait for more.
 */
const UNPACKED_MAX_BYTES = 128 * 1024;
const UNPACKED_MAX_MS = 25;
/** They are about the bytes that the origin sent, or let a client join a range of them with the bytes that it has. */
const ABOUT_BYTES = [
  'content-length',
  'content-digest',
  'repr-digest',
  'digest',
  'content-md5',
  'accept-ranges',
  'last-modified',
];

/** One character for each byte. */
const latin1 = new TextDecoder('latin1');

/** What policies of pages had against the script, each with the path of the last such page. */
export type Obstacles = Map<PolicyObstacle, string>;

export function injectProtectScript(
  response: Response,
  { headers: asked, request, target }: RequestFacts,
  count: Count,
  obstacles: Obstacles,
  loadNonce: () => string,
): Response | Promise<Response> {
  const { headers, status } = response;
  const isSameAsWithScript = status === 304 && /W\//.test(request.headers.get('if-none-match') ?? '');
  if (isSameAsWithScript || (asked.method === 'HEAD' && isPage(response))) return withoutBytesOf(response);
  if (!hash || asked.method !== 'GET' || response.body === null || !isPage(response)) return response;
  // What a page's script asks for is often a fragment, and its visitor has the session of the page.
  const isCounted = isNavigation(asked);
  const untouched: Untouched = (reason) => {
    if (isCounted) count(`scripts_not_injected{reason="${reason}"}`);
    return response;
  };
  if (!READABLE_ENCODING.test(headers.get('content-encoding') ?? '')) return untouched('encoding');
  const { nonce, obstacle } = readPagePolicy(headers.get('content-security-policy'), target);
  if (obstacle !== null) {
    if (isCounted) obstacles.set(obstacle, target.path);
    return untouched(obstacle);
  }
  const load = loadNonce();
  const address = `/__protect/protect.js?v=${hash}${load && `#${load}`}`;
  const tag = `<script src="${address}"${nonce ? ` nonce="${nonce}"` : ''} async></script>`;
  return injected(response, tag, untouched);
}

type Untouched = (reason: 'encoding' | 'charset' | 'markup' | PolicyObstacle) => Response;

/** Whether the origin sent a part of what may be a page with the script, or none where it ends before that page does. */
export function mayBePartOfPage({ status, headers }: Response, { method, range }: RequestFacts['headers']): boolean {
  if (method !== 'GET' || !range) return false;
  return (
    status === 416 || (status === 206 && (isHtml(headers) || /^multipart\//i.test(headers.get('content-type') ?? '')))
  );
}

function withoutBytesOf(response: Response): Response {
  const { headers } = response;
  for (const name of ABOUT_BYTES) headers.delete(name);
  const etag = headers.get('etag');
  if (etag !== null && !etag.startsWith('W/')) headers.set('etag', `W/${etag}`);
  return response;
}

async function injected(response: Response, tag: string, untouched: Untouched): Promise<Response> {
  // The original stays unread until there is a place: the runtime can still pass on its very bytes, compressed or not.
  const copy = response.clone().body!;
  const reader: PageReader = copy.getReader();
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
    return untouched(typeof place === 'string' ? 'markup' : 'charset');
  }
  const isPacked = /^(?:gzip|br)$/i.test(response.headers.get('content-encoding') ?? '');
  const next = isPacked ? await unpacked(reader, chunks) : ok(null);
  if (!next.ok) {
    void reader.cancel();
    return untouched('encoding');
  }
  void response.body!.cancel();
  const { readable, writable } = new IdentityTransformStream();
  const beginning = new Blob(chunks);
  void pour(new Blob([beginning.slice(0, place), tag, beginning.slice(place)]), next.value, reader, copy, writable);
  return withoutBytesOf(new Response(readable, response));
}

/** Whether the page may name its charset where browsers look for it, and would no longer do so behind the tag. */
function wouldHideCharset(text: string, tag: string): boolean {
  // More than one element can have a charset, and the wrong one may come first.
  const named = text.slice(0, CHARSET_WITHIN_BYTES).matchAll(/charset[^>]*>/gi);
  return [...named].some((found) => found.index + found[0].length + tag.length > CHARSET_WITHIN_BYTES);
}

type PageReader = ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
type PageChunk = ReturnType<PageReader['read']>;

/** Reads on, into `chunks`. Returns the read that takes too long, if one does. */
async function unpacked(
  reader: PageReader,
  chunks: Uint8Array<ArrayBuffer>[],
): Promise<Result<{ late: PageChunk } | null, { kind: 'corrupt' }>> {
  const expired = scheduler.wait(UNPACKED_MAX_MS).then(() => 'late' as const);
  let bytes = chunks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  while (bytes < UNPACKED_MAX_BYTES) {
    const read = reader.read();
    const outcome = await Promise.race([read.catch(() => 'corrupt' as const), expired]);
    if (outcome === 'late') return ok({ late: read });
    if (outcome === 'corrupt') return failed({ kind: 'corrupt' });
    if (outcome.done) return ok(null);
    chunks.push(outcome.value);
    bytes += outcome.value.byteLength;
  }
  return ok(null);
}

/** A visitor who leaves, or an origin that hangs up, ends both sides. */
async function pour(
  beginning: Blob,
  next: { late: PageChunk } | null,
  reader: PageReader,
  rest: ReadableStream,
  into: WritableStream,
): Promise<void> {
  try {
    await beginning.stream().pipeTo(into, { preventClose: true });
    const chunk = (await next?.late)?.value;
    if (chunk) await new Blob([chunk]).stream().pipeTo(into, { preventClose: true });
    reader.releaseLock();
    await rest.pipeTo(into);
  } catch (error) {
    await into.abort(error).catch(() => undefined);
    await reader.cancel(error).catch(() => rest.cancel(error).catch(() => undefined));
  }
}

/** A whole page that may be changed. The check that most responses fail comes first. */
export function isPage({ headers, status }: Response): boolean {
  return isHtml(headers) && status === 200 && !headers.has('content-range');
}

/** Each look into `Headers` crosses into the runtime. */
function isHtml(headers: Headers): boolean {
  return (
    /^text\/html\b/i.test(headers.get('content-type') ?? '') &&
    !/attachment/i.test(headers.get('content-disposition') ?? '') &&
    !/\bno-transform\b/i.test(headers.get('cache-control') ?? '')
  );
}

/**
 * Where a script belongs in a page, found in its first bytes: after the start of the head, or where a page without one
 * has its first element. Only what may stand before the head is read, as browsers do (HTML section 13.2.5), so nothing
 * in the page itself can mislead the search, however it is encoded, nested or left open.
 */
export type ScriptPlace = number | 'need-more' | 'no-document';

/** What a browser skips: white space, comments, the doctype, processing instructions. */
const SKIPPED = /[\t\n\f\r ]+|<!--(?:-?>|[^]*?--!?>)|<(?:\?|!(?!--))[^>]*>/y;
const TAG = /<(\/?[a-z][^\t\n\f\r />]*)(?=[\t\n\f\r />])/iy;
/** An attribute, or what stands between two. A value may hold what ends a tag elsewhere. */
const ATTRIBUTE =
  /[\t\n\f\r /]+|[^\t\n\f\r />][^\t\n\f\r />=]*(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*"|'[^']*'|[^\t\n\f\r "'>][^\t\n\f\r >]*|(?=>))|(?![\t\n\f\r ]*=))/y;
/** The start of a tag or of something skipped that may go on. */
const UNFINISHED = /<(?:[!?][^]*|\/?[a-z]*)?$/iy;
const UTF8_MARK = '\xef\xbb\xbf';

/** `text`: the bytes of the page so far, one character for each. */
export function scriptPlace(text: string): ScriptPlace {
  if (UTF8_MARK.startsWith(text)) return 'need-more';
  let at = text.startsWith(UTF8_MARK) ? UTF8_MARK.length : 0;
  let isDocument = false;
  for (;;) {
    const skipped = matchAt(SKIPPED, text, at);
    if (skipped) {
      isDocument ||= /^<!doctype/i.test(skipped[0]);
      at += skipped[0].length;
      continue;
    }
    if (matchAt(UNFINISHED, text, at) || at === text.length) return 'need-more';
    const tag = matchAt(TAG, text, at);
    const name = tag?.[1]?.toLowerCase();
    if (!tag || (name !== 'html' && name !== 'head')) return isDocument || name === 'body' ? at : 'no-document';
    at += tag[0].length;
    for (let found; (found = matchAt(ATTRIBUTE, text, at));) at += found[0].length;
    if (text[at++] !== '>') return 'need-more';
    if (name === 'head') return at;
    isDocument = true;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
