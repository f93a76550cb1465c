/**
 * Puts the protect script into allowed HTML documents: whole documents only, in a charset the rewriter can read, with
 * the page's own CSP nonce. The ETag becomes weak because the bytes differ.
 */
import { assetHashes } from '../../widget/bundle.generated.ts';
import type { RequestFacts } from '../request/facts.ts';

const hash = assetHashes['protect.js'];
const NONCE = /'nonce-([A-Za-z0-9+/_-]+={0,2})'/;
/** Directives that apply to a script element (CSP 3 section 6.8.1), first to last. A style's nonce does not count. */
const SCRIPT_SOURCES = ['script-src-elem', 'script-src', 'default-src'].map(
  (name) => new RegExp(`(?:^|[;,])\\s*${name}\\s([^;,]*)`, 'i'),
);
/** Encodings in which an ASCII tag does not have the bytes of ASCII. */
const UNREADABLE_CHARSET = /charset\s*=\s*"?\s*(?:utf-?16|utf-?32|iso-2022|hz|utf-?7|ebcdic)/i;

export function injectProtectScript(response: Response, facts: RequestFacts): Response {
  if (!hash || !isWholeDocument(facts, response)) return response;
  const { headers } = response;
  const nonce = scriptNonce(headers.get('content-security-policy'));
  const tag = `<script src="/__protect/protect.js?v=${hash}"${nonce ? ` nonce="${nonce}"` : ''} async></script>`;
  const etag = headers.get('etag');
  if (etag !== null && !etag.startsWith('W/')) headers.set('etag', `W/${etag}`);
  headers.delete('content-length');
  let placed = false;
  const place = (element: Element): void => {
    if (placed) return;
    placed = true;
    if (element.tagName === 'head') element.prepend(tag, { html: true });
    else element.before(tag, { html: true });
  };
  // A document without a head still has a body.
  return new HTMLRewriter().on('head', { element: place }).on('body', { element: place }).transform(response);
}

function scriptNonce(policy: string | null): string | undefined {
  if (policy === null) return undefined;
  for (const directive of SCRIPT_SOURCES) {
    const sources = directive.exec(policy)?.[1];
    if (sources !== undefined) return NONCE.exec(sources)?.[1];
  }
  return undefined;
}

/** The check that most responses fail comes first: each look into `Headers` crosses into the runtime. */
function isWholeDocument({ request, headers: asked }: RequestFacts, response: Response): boolean {
  const { headers } = response;
  const type = headers.get('content-type') ?? '';
  const destination = asked.fetchDest;
  return (
    /^text\/html\b/i.test(type) &&
    request.method === 'GET' &&
    response.status === 200 &&
    response.body !== null &&
    (destination === null || destination === 'document' || destination === 'iframe') &&
    !UNREADABLE_CHARSET.test(type) &&
    !/attachment/i.test(headers.get('content-disposition') ?? '') &&
    !headers.has('content-range') &&
    !/\bno-transform\b/i.test(headers.get('cache-control') ?? '')
  );
}
