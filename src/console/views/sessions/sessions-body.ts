/** From the address of the view to the call that fills it. */
import type { RequestOf } from '../../api/service-api.ts';
import { siteOf } from '../../frame/instances.ts';
import { type Params, type Range, ranges } from '../../url/params.ts';

const SESSIONS_PER_PAGE = 50;
const MINUTE_MS = 60_000;

export const sessionFilters = ['risk', 'range', 'ip'] as const;

/** A cursor belongs to its filters, so a moving `since` stands still while the view is open. */
export function sessionsBody(params: Params, openedAt: number): RequestOf<'/protect/sessions'> {
  const { ip, risk, range, cursor } = params;
  const span = Object.hasOwn(ranges, range ?? '') ? ranges[range as Range] : null;
  return {
    ...siteOf(params),
    limit: SESSIONS_PER_PAGE,
    ...(ip === undefined ? {} : { ip }),
    ...(risk === undefined ? {} : { minRisk: Number(risk) }),
    ...(span === null ? {} : { since: Math.floor((openedAt - span) / MINUTE_MS) * MINUTE_MS }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}
