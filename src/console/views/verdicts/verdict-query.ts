/** From the address of the view to the call that fills it. */
import type { PathsWith, RequestOf } from '../../api/service-api.ts';
import { siteOf } from '../../frame/instances.ts';
import type { Params } from '../../url/params.ts';
import type { TimeWindow } from '../../url/window.ts';
import { filterFields, listFilters, offeredFilters, searchFilters, valuesOf } from './verdict-filters.ts';

const VERDICTS_PER_PAGE = 50;

export type VerdictCall = {
  [P in Extract<PathsWith<'post'>, '/protect/verdicts' | '/protect/verdicts/search'>]: { path: P; body: RequestOf<P> };
}['/protect/verdicts' | '/protect/verdicts/search'];

/** A visitor is found by the search, which takes an address, a session and a network; the list takes the rest. */
export function verdictCall(params: Params, { since, until }: TimeWindow): VerdictCall {
  const { cursor } = params;
  const shared = { ...siteOf(params), since, until, limit: VERDICTS_PER_PAGE, ...(cursor ? { cursor } : {}) };
  if (isSearch(params)) {
    return { path: '/protect/verdicts/search', body: { ...shared, ...filterFields(searchFilters, params) } };
  }
  return { path: '/protect/verdicts', body: { ...shared, ...filterFields(listFilters, params) } };
}

/** The call for a file of everything that the list finds. */
export function exportBody(
  params: Params,
  { since, until }: TimeWindow,
  format: 'ndjson' | 'parquet',
): RequestOf<'/protect/verdicts/export'> {
  return { ...siteOf(params), since, until, format, ...filterFields(listFilters, params) };
}

export function isSearch(params: Params): boolean {
  return (params['ip'] ?? params['jti'] ?? '') !== '';
}

/** Labels of the filters in the address that the search by visitor does not take. */
export function unusedFilters(params: Params): string[] {
  if (!isSearch(params)) return [];
  return offeredFilters
    .filter((filter) => !searchFilters.includes(filter) && valuesOf(filter, params).length > 0)
    .map(({ label }) => label);
}
