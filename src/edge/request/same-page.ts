/**
 * Whether a request is for the page that a redirect leads to, so that a policy for every path does not send that page to
 * itself without end. Location and request are compared as the URL standard reads them, because a browser follows a location
 * in that form. The scheme does not count: a proxy may speak http to the Worker.
 */
import { canonicalPath } from '../../bytes/url-path.ts';
import type { CanonicalTarget } from './canonical-path.ts';

export function isAt(
  { host, path, query }: Pick<CanonicalTarget, 'host' | 'path' | 'query'>,
  location: string,
): boolean {
  const own = URL.parse(`https://${host}/${query}`);
  const page = own && URL.parse(location, own);
  return (
    page !== null && page.host === own!.host && page.search === own!.search && canonicalPath(page.pathname) === path
  );
}
