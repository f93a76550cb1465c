/**
 * Tells the page's developer, in the console and once, what to change in the setup of a widget. Visitors cannot change
 * it and read only that verification is not available.
 */

const told = new Set<string>();

/** `detail`: of the error. Does nothing for an error that has another cause. */
export function explainSetup(detail: string, siteKey: string): void {
  const mistake = mistakeBehind(detail, siteKey);
  if (mistake === undefined || told.has(mistake)) return;
  told.add(mistake);
  console.error(`Gatehouse: ${mistake}`);
}

function mistakeBehind(detail: string, siteKey: string): string | undefined {
  if (detail === 'opaque-origin')
    return 'this page has no origin, so no site can allow it. Add allow-same-origin to the sandbox of its frame, or serve the file over HTTP.';
  if (detail === 'API.UNAUTHORIZED_ORIGIN_URL')
    return `the site "${siteKey}" does not allow ${location.hostname}. Add this host to the domains of the site.`;
  if (/SITE_KEY/.test(detail))
    return `"${siteKey}" is not the key of an active site. Set sitekey to the siteKey that /sites/list shows.`;
  return undefined;
}
