/** From the address of the view to the call that fills it. */
import type { PathsWith, RequestOf } from '../../api/service-api.ts';
import { siteOf } from '../../frame/instances.ts';
import type { Params } from '../../url/params.ts';
import type { TimeWindow } from '../../url/window.ts';

const VERDICTS_PER_PAGE = 50;

export type VerdictCall = {
  [P in Extract<PathsWith<'post'>, '/protect/verdicts' | '/protect/verdicts/search'>]: { path: P; body: RequestOf<P> };
}['/protect/verdicts' | '/protect/verdicts/search'];

/** A visitor is found by the search, which takes an address, a session and a network; the list takes the rest. */
export function verdictCall(params: Params, { since, until }: TimeWindow): VerdictCall {
  const shared = {
    ...siteOf(params),
    since,
    until,
    limit: VERDICTS_PER_PAGE,
    ...defined({ asn: params['asn'], cursor: params['cursor'] }),
  };
  if (isSearch(params)) {
    return {
      path: '/protect/verdicts/search',
      body: { ...shared, ...defined({ ip: params['ip'], jti: params['jti'] }) },
    };
  }
  // The service checks the values; a refused one is named on the page.
  return { path: '/protect/verdicts', body: { ...shared, ...filtersOf(params) } as RequestOf<'/protect/verdicts'> };
}

/** The call for a file of everything that the list finds. */
export function exportBody(
  params: Params,
  { since, until }: TimeWindow,
  format: 'ndjson' | 'parquet',
): RequestOf<'/protect/verdicts/export'> {
  const body = { ...siteOf(params), since, until, format, ...defined({ asn: params['asn'] }), ...filtersOf(params) };
  return body as RequestOf<'/protect/verdicts/export'>;
}

function filtersOf(params: Params): Record<string, string> {
  return defined({
    decision: params['decision'],
    sources: params['source'],
    deviceType: params['device'],
    requestPath: params['path'],
    firedRules: params['rule'],
  });
}

export function isSearch(params: Params): boolean {
  return (params['ip'] ?? params['jti'] ?? '') !== '';
}

/** Filters in the address that the search by visitor does not take. */
export function unusedFilters(params: Params): string[] {
  return isSearch(params) ? ['decision', 'source', 'device', 'path', 'rule'].filter((name) => params[name]) : [];
}

function defined(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
}
