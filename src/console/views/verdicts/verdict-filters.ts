/**
 * The filters of verdicts: their names in the address, and their fields in the calls. A filter that takes several values
 * has them with commas between.
 */
import type { PathsWith, RequestOf } from '../../api/service-api.ts';
import { type FilterField, listed } from '../../components/filter-field.ts';
import { siteOf } from '../../frame/instances.ts';
import type { Params, TimeWindow } from '../../url/params.ts';
import {
  botProofs,
  decisions,
  deviceTypes,
  edgeRuleTypes,
  type VerdictSource,
  verdictSources,
  visitorSources,
} from '../../../contract/vocabulary.ts';

export interface VerdictFilter extends FilterField {
  /** In the call, where it is called something else than in the address. */
  field?: string;
  values?: readonly string[];
  /** What is typed can be several values. */
  splitAt?: RegExp;
  isNumber?: boolean;
}

/** A user agent can hold a comma: a further rule begins with its type. */
const BETWEEN_RULES = new RegExp(`,\\s*(?=(?:${edgeRuleTypes.join('|')}):)`);

const BETWEEN_WORDS = /[\s,]+/;

const ip: VerdictFilter = { param: 'ip', label: 'Address', placeholder: '192.0.2.1' };
const jti: VerdictFilter = { param: 'jti', label: 'Session', isRare: true };

/** The filters that `/protect/verdicts` takes, and the inputs that its page offers for them. */
export const offeredFilters: readonly VerdictFilter[] = [
  { param: 'decision', label: 'Decision', values: decisions },
  ip,
  { param: 'reference', field: 'requestId', label: 'Reference' },
  { param: 'source', field: 'sources', label: 'Source', values: verdictSources, isRare: true },
  { param: 'device', field: 'deviceType', label: 'Device', values: deviceTypes, isRare: true },
  { param: 'path', field: 'requestPath', label: 'Path', placeholder: '/signup or /api/*', isRare: true },
  {
    param: 'rule',
    field: 'firedRules',
    label: 'Rules that fired',
    placeholder: 'userAgent:badbot, asn:64496',
    splitAt: BETWEEN_RULES,
    isRare: true,
  },
  jti,
  { param: 'asn', label: 'AS numbers', placeholder: '64496, 64497', splitAt: BETWEEN_WORDS, isRare: true },
  { param: 'bot', label: 'Bots', placeholder: 'bingbot, gptbot', splitAt: BETWEEN_WORDS, isRare: true },
  { param: 'proof', label: 'Proof of the bot', values: botProofs, isRare: true },
  {
    param: 'rules',
    field: 'minRulesFired',
    label: 'Rules fired, at least',
    placeholder: '2',
    isNumber: true,
    isRare: true,
  },
];

/** Of `/protect/verdicts/export`. */
const exportFilters = offeredFilters.filter((filter) => filter !== ip && filter !== jti);
/** Of `/protect/verdicts/search`, which finds a visitor. */
export const searchFilters = offeredFilters.filter(({ param }) =>
  ['ip', 'jti', 'asn', 'bot', 'proof', 'reference'].includes(param),
);
/** Of `/protect/verdicts/tail`. */
export const tailFilters = offeredFilters.filter(({ param }) => param !== 'reference');

/** Whether the view shows the gate's own calls: with its switch, or because somebody looks for nothing else. */
export function showsOwnCalls({ internal, source }: Params): boolean {
  return internal === 'shown' || listed(source).includes('internal');
}

/** The sources that a view of visitors offers. */
export function shownSources(params: Params): readonly VerdictSource[] {
  return showsOwnCalls(params) ? verdictSources : visitorSources;
}

/** The fields of a call. The service checks the values; a refused one is named on the page. */
export function filterFields(filters: readonly VerdictFilter[], params: Params): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const filter of filters) {
    const values = valuesOf(filter, params);
    if (values.length > 0) fields[filter.field ?? filter.param] = values.length === 1 ? values[0] : values;
  }
  return fields;
}

export function valuesOf({ values, splitAt, isNumber, param }: VerdictFilter, params: Params): readonly unknown[] {
  const text = params[param]?.trim() ?? '';
  if (isNumber === true && /^\d{1,15}$/.test(text)) return [Number(text)];
  const separator = values === undefined ? splitAt : ',';
  const parts = separator === undefined ? [text] : text.split(separator);
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

/** Of the live tail: more rows than anybody reads while others arrive. */
export const TAIL_ROWS_MAX = 250;

/** From the address of the live tail to the call that it repeats. */
export function tailBody(params: Params): RequestOf<'/protect/verdicts/tail'> {
  const includeInternal = showsOwnCalls(params);
  return { ...siteOf(params), includeInternal, ...filterFields(tailFilters, params), limit: TAIL_ROWS_MAX };
}

const VERDICTS_PER_PAGE = 50;

export type VerdictCall = {
  [P in Extract<PathsWith<'post'>, '/protect/verdicts' | '/protect/verdicts/search'>]: { path: P; body: RequestOf<P> };
}['/protect/verdicts' | '/protect/verdicts/search'];

/** A visitor is found by the search, unless a filter is set that only the list takes. */
export function verdictCall(params: Params, { since, until }: TimeWindow): VerdictCall {
  const { cursor } = params;
  const includeInternal = showsOwnCalls(params);
  const page = { limit: VERDICTS_PER_PAGE, ...(cursor ? { cursor } : {}) };
  const shared = { ...siteOf(params), since, until, includeInternal, ...page };
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
  const includeInternal = showsOwnCalls(params);
  return { ...siteOf(params), since, until, includeInternal, format, ...filterFields(exportFilters, params) };
}

/** The file of verdicts has no filter for a visitor. */
export function namesVisitor(params: Params): boolean {
  return (params['ip'] ?? params['jti'] ?? '') !== '';
}
