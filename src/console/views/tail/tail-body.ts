/** From the address of the view to the call that it repeats. */
import type { RequestOf } from '../../api/service-api.ts';
import { siteOf } from '../../frame/instances.ts';
import type { Params } from '../../url/params.ts';
import { filterFields, tailFilters } from '../verdicts/verdict-filters.ts';

/** More rows than anybody reads while others arrive. */
export const TAIL_ROWS_MAX = 250;

export function tailBody(params: Params): RequestOf<'/protect/verdicts/tail'> {
  return { ...siteOf(params), ...filterFields(tailFilters, params), limit: TAIL_ROWS_MAX };
}
