/** What a visitor without a session asks for, as their request says, and what it was, as the response shows. */
import type { HeaderFacts } from '../request/header-facts.ts';
import type { PendingKind } from './pending-budget.ts';

const PAGE_DESTINATION = /^(?:document|iframe|frame|fencedframe|object|embed)$/;
/** What elements of a page load. Everything else has content that is worth collecting: pages, data, texts. */
const FILE_TYPE =
  /^(?:image|font|audio|video)\/|^text\/(?:css|javascript|vtt)|^application\/(?:(?:x-)?javascript|ecmascript|wasm|manifest\+json|(?:x-)?font-|vnd\.ms-fontobject|octet-stream|(?:x-|vnd\.apple\.)mpegurl|dash\+xml)/i;
const BODILESS = new Set([204, 205]);

type Asked = Pick<HeaderFacts, 'fetchDest' | 'accept'>;

/** A browser that asks for a page says so in `Accept`, whatever else it says. */
export function askedFor({ fetchDest, accept }: Asked): PendingKind {
  return PAGE_DESTINATION.test(fetchDest ?? '') || accept?.includes('text/html') === true ? 'page' : 'file';
}

/** Redirects, errors and unchanged files hold nothing of the site. */
export function isPageResponse({ status, headers }: Response, { fetchDest }: Asked): boolean {
  if (status < 200 || status > 299 || BODILESS.has(status)) return false;
  const type = headers.get('content-type') ?? '';
  if (FILE_TYPE.test(type)) return false;
  // Browsers read the manifest without cookies on every visit, often as plain JSON.
  return !(fetchDest === 'manifest' && /^application\/json/i.test(type));
}
