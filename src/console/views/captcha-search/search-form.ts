/** The criteria of a search for captcha records: in the address as text, in the call as the API takes them. */
import type { RequestOf, Schema } from '../../api/service-api.ts';
import type { Params, TimeWindow } from '../../url/params.ts';
import { chosenSite } from '../captchas/sites.ts';

export type SearchBody = RequestOf<'/audit/searchcaptcharecords'>;
export type CaptchaRecord = Schema<'CaptchaRecord'>;
type Criteria = NonNullable<SearchBody['searchCriteria']>;

const RECORDS_PER_PAGE = 50;

/** Parameter, which is the API's criterion, and its label. */
export const textCriteria = [
  ['ip', 'Address'],
  ['userAgent', 'User agent contains'],
  ['userAccount', 'User account'],
  ['countryCode', 'Country code'],
  ['ja4', 'JA4'],
  ['selectionReason', 'Selection reason'],
  ['resultReason', 'Result reason'],
  ['accessRule', 'Access control rule'],
  ['freeText', 'Any field contains'],
] as const satisfies readonly (readonly [keyof Criteria, string])[];
export const flagCriteria = [
  ['vpn', 'VPN'],
  ['webView', 'Web view'],
  ['iFrame', 'In a frame'],
] as const satisfies readonly (readonly [keyof Criteria, string])[];
/** Several, separated by commas. */
export const DETECTORS = 'triggeredDetectors';
const choices = ['status', 'deviceType', 'policyType'] as const satisfies readonly (keyof Criteria)[];

export const searchParams: readonly string[] = [
  'type',
  ...textCriteria.map(([name]) => name),
  ...flagCriteria.map(([name]) => name),
  ...choices,
  DETECTORS,
];

export function searchBody(params: Params, { since, until }: TimeWindow): SearchBody {
  const criteria: Record<string, unknown> = {};
  for (const name of [...textCriteria.map(([one]) => one), ...choices]) {
    if (params[name]) criteria[name] = params[name];
  }
  for (const [name] of flagCriteria) {
    if (params[name] === 'true' || params[name] === 'false') criteria[name] = params[name] === 'true';
  }
  const detectors = (params[DETECTORS] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (detectors.length > 0) criteria[DETECTORS] = detectors;
  const site = chosenSite(params);
  const { lastId, lastTimestamp } = params;
  // The service checks the values; a refused one is named on the page.
  return {
    ...(site === undefined ? {} : { siteKey: site }),
    captchaType: (params['type'] ?? 'all') as NonNullable<SearchBody['captchaType']>,
    searchCriteria: criteria as Criteria,
    startDate: since,
    endDate: until,
    pagination: {
      limit: RECORDS_PER_PAGE,
      ...(lastId === undefined || lastTimestamp === undefined ? {} : { lastId, lastTimestamp: Number(lastTimestamp) }),
    },
  };
}
