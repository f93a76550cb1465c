/** From the address of the view to the call that fills it. */
import type { PathsWith, RequestOf } from '../../api/service-api.ts';
import { siteOf } from '../../frame/instances.ts';
import type { Params, TimeWindow } from '../../url/params.ts';
import { exportFilters, filterFields, offeredFilters, searchFilters, valuesOf } from './verdict-filters.ts';

const VERDICTS_PER_PAGE = 50;

export type VerdictCall = {
  [P in Extract<PathsWith<'post'>, '/protect/verdicts' | '/protect/verdicts/search'>]: { path: P; body: RequestOf<P> };
}['/protect/verdicts' | '/protect/verdicts/search'];

/** A visitor is found by the search, unless a filter is set that only the list takes. */
export function verdictCall(params: Params, { since, until }: TimeWindow): VerdictCall {
  const { cursor } = params;
  const shared = { ...siteOf(params), since, until, limit: VERDICTS_PER_PAGE, ...(cursor ? { cursor } : {}) };
  const isTaken = offeredFilters.every(
    (filter) => searchFilters.includes(filter) || valuesOf(filter, params).length === 0,
  );
  if (namesVisitor(params) && isTaken) {
    return { path: '/protect/verdicts/search', body: { ...shared, ...filterFields(searchFilters, params) } };
  }
  return { path: '/protect/verdicts', body: { ...shared, ...filterFields(offeredFilters, params) } };
}

/** The call for a file of everything that the list finds. */
export function exportBody(
  params: Params,
  { since, until }: TimeWindow,
  format: 'ndjson' | 'parquet',
): RequestOf<'/protect/verdicts/export'> {
  return { ...siteOf(params), since, until, format, ...filterFields(exportFilters, params) };
}

/** The file of verdicts has no filter for a visitor. */
export function namesVisitor(params: Params): boolean {
  return (params['ip'] ?? params['jti'] ?? '') !== '';
}
