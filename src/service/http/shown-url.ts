/**
 * An address as it is shown: some publishers take their key in the query, so no value of it is returned. The audit trail
 * keeps the host alone.
 */
const HIDDEN = '***';

/** Whether somebody has changed an address that was shown, and would lose its key. */
export function hasHiddenValue(text: string): boolean {
  return URL.parse(text)?.search.split(/[?&=]/).includes(HIDDEN) ?? false;
}

/** For the audit trail: some publishers take their key in the path. */
export function shownHost(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.pathname + url.search === '/') return text;
  return `${url.origin}/${HIDDEN}`;
}

export function shownUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || url.search === '') return text;
  const parts = Array.from(url.searchParams, ([name, value]) =>
    value === '' ? HIDDEN : `${encodeURIComponent(name)}=${HIDDEN}`,
  );
  url.search = parts.join('&');
  return url.href;
}
