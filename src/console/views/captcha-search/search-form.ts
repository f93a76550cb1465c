/** The criteria of a search for captcha records: in the address as text, in the call as the API takes them. */
import type { RequestOf, Schema } from '../../api/service-api.ts';
import type { Params, TimeWindow } from '../../url/params.ts';
import { deviceTypes } from '../../../contract/vocabulary.ts';
import { type FilterField, listed } from '../../components/filter-field.ts';
import { chosenSite } from '../captchas/sites.ts';

export type SearchBody = RequestOf<'/audit/searchcaptcharecords'>;
export type FoundCaptcha = Schema<'CaptchaRecord'>;
type Criteria = NonNullable<SearchBody['searchCriteria']>;

const RECORDS_PER_PAGE = 50;

const yesOrNo = [
  ['true', 'yes'],
  ['false', 'no'],
] as const;
/** Several, separated by commas. */
const DETECTORS = 'triggeredDetectors';

/** All of them must match. The parameter is the criterion of the API, except that the type has a field of its own. */
export const searchFields = [
  { param: 'type', label: 'Type', options: ['pow', 'image', 'puzzle', 'blocked'] },
  { param: 'status', label: 'Status', options: ['Approved', 'Pending', 'Disapproved'] },
  { param: 'deviceType', label: 'Device', options: deviceTypes },
  { param: 'policyType', label: 'Policy', options: ['block', 'restrict'] },
  { param: 'vpn', label: 'VPN', options: yesOrNo },
  { param: 'webView', label: 'Web view', options: yesOrNo },
  { param: 'iFrame', label: 'In a frame', options: yesOrNo },
  { param: 'ip', label: 'Address' },
  { param: 'userAgent', label: 'User agent contains' },
  { param: 'userAccount', label: 'User account' },
  { param: 'countryCode', label: 'Country code' },
  { param: 'ja4', label: 'JA4' },
  { param: 'selectionReason', label: 'Selection reason' },
  { param: 'resultReason', label: 'Result reason' },
  { param: 'accessRule', label: 'Captcha rule' },
  { param: 'freeText', label: 'Any field contains' },
  { param: DETECTORS, label: 'Detectors, by commas' },
] as const satisfies readonly (FilterField & { param: keyof Criteria | 'type' })[];

function criterionOf(field: FilterField, text = ''): unknown {
  if (field.options === yesOrNo) return ['true', 'false'].includes(text) ? text === 'true' : undefined;
  if (field.param !== DETECTORS) return text || undefined;
  const detectors = listed(text);
  return detectors.length === 0 ? undefined : detectors;
}

export function searchBody(params: Params, { since, until }: TimeWindow): SearchBody {
  const criteria = searchFields.flatMap((field) => {
    const criterion = field.param === 'type' ? undefined : criterionOf(field, params[field.param]);
    return criterion === undefined ? [] : [[field.param, criterion] as const];
  });
  const site = chosenSite(params);
  const { lastId, lastTimestamp } = params;
  // The service checks the values; a refused one is named on the page.
  return {
    ...(site === undefined ? {} : { siteKey: site }),
    captchaType: (params['type'] ?? 'all') as NonNullable<SearchBody['captchaType']>,
    searchCriteria: Object.fromEntries(criteria) as Criteria,
    startDate: since,
    endDate: until,
    pagination: {
      limit: RECORDS_PER_PAGE,
      ...(lastId === undefined || lastTimestamp === undefined ? {} : { lastId, lastTimestamp: Number(lastTimestamp) }),
    },
  };
}
