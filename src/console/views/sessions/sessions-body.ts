/** The filters of the view, and from its address to the call that fills it. */
import type { RequestOf } from '../../api/service-api.ts';
import type { FilterField } from '../../components/filter-field.ts';
import { type Instance, siteOf } from '../../frame/instances.ts';
import { type Params, type Range, ranges } from '../../url/params.ts';

const SESSIONS_PER_PAGE = 50;
const MINUTE_MS = 60_000;

/** @param instance has thresholds of its own; `null`: not known yet. */
export function sessionFields(
  instance: Pick<Instance, 'challengeThreshold' | 'blockThreshold'> | null,
): readonly FilterField[] {
  const thresholds =
    instance === null
      ? []
      : ([
          [String(instance.challengeThreshold), `challenged, from ${instance.challengeThreshold}`],
          [String(instance.blockThreshold), `blocked, from ${instance.blockThreshold}`],
        ] as const);
  return [
    { param: 'risk', label: 'Risk score', none: 'any score', options: [['0.01', 'above 0'], ...thresholds] },
    {
      param: 'range',
      label: 'Last active',
      none: 'at any time',
      options: [
        ['1h', 'in the last hour'],
        ['24h', 'in the last 24 hours'],
        ['7d', 'in the last 7 days'],
      ],
    },
    { param: 'ip', label: 'Address', placeholder: '192.0.2.1', maxLength: 45 },
  ];
}

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
