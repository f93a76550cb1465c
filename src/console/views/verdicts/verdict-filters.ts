/**
 * The filters of verdicts: their names in the address, and their fields in the calls. A filter that takes several values
 * has them with commas between.
 */
import type { RequestOf } from '../../api/service-api.ts';
import { siteOf } from '../../frame/instances.ts';
import type { Params } from '../../url/params.ts';
import { botProofs, decisions, deviceTypes, edgeRuleTypes, verdictSources } from '../../../contract/vocabulary.ts';

export interface VerdictFilter {
  /** In the address. */
  param: string;
  /** In the call. */
  field: string;
  label: string;
  /** Any of these can be chosen. Without them, the value is typed. */
  values?: readonly string[];
  placeholder?: string;
  /** What is typed can be several values. */
  splitAt?: RegExp;
  isNumber?: boolean;
}

/** A user agent can hold a comma: a further rule begins with its type. */
const BETWEEN_RULES = new RegExp(`,\\s*(?=(?:${edgeRuleTypes.join('|')}):)`);

const decision = { param: 'decision', field: 'decision', label: 'Decision', values: decisions } as const;
const asn: VerdictFilter = {
  param: 'asn',
  field: 'asn',
  label: 'AS numbers',
  placeholder: '64496, 64497',
  splitAt: /[\s,]+/,
};
const bot: VerdictFilter = {
  param: 'bot',
  field: 'bot',
  label: 'Bots',
  placeholder: 'bingbot, gptbot',
  splitAt: /[\s,]+/,
};
const proof: VerdictFilter = { param: 'proof', field: 'proof', label: 'Proof of the bot', values: botProofs };
const ip = { param: 'ip', field: 'ip', label: 'Address', placeholder: '192.0.2.1' } as const;
const jti = { param: 'jti', field: 'jti', label: 'Session' } as const;
const others: readonly VerdictFilter[] = [
  { param: 'source', field: 'sources', label: 'Source', values: verdictSources },
  { param: 'device', field: 'deviceType', label: 'Device', values: deviceTypes },
  { param: 'path', field: 'requestPath', label: 'Path', placeholder: '/signup or /api/*' },
  {
    param: 'rule',
    field: 'firedRules',
    label: 'Rules that fired',
    placeholder: 'userAgent:badbot, asn:64496',
    splitAt: BETWEEN_RULES,
  },
];
const minRulesFired: VerdictFilter = {
  param: 'rules',
  field: 'minRulesFired',
  label: 'Rules fired, at least',
  placeholder: '2',
  isNumber: true,
};
const requestId: VerdictFilter = { param: 'reference', field: 'requestId', label: 'Reference' };

/** Of `/protect/verdicts/export`. */
export const exportFilters: readonly VerdictFilter[] = [decision, ...others, asn, bot, proof, minRulesFired, requestId];
/** Of `/protect/verdicts/search`, which finds a visitor. */
export const searchFilters: readonly VerdictFilter[] = [ip, jti, asn, bot, proof, requestId];
/** Of `/protect/verdicts/tail`. */
export const tailFilters: readonly VerdictFilter[] = [decision, ...others, asn, bot, proof, minRulesFired, ip, jti];
/** Of `/protect/verdicts`, and what its view offers. */
export const offeredFilters: readonly VerdictFilter[] = [
  decision,
  ...others,
  ip,
  jti,
  asn,
  bot,
  proof,
  minRulesFired,
  requestId,
];

/** The fields of a call. The service checks the values; a refused one is named on the page. */
export function filterFields(filters: readonly VerdictFilter[], params: Params): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const filter of filters) {
    const values = valuesOf(filter, params);
    if (values.length > 0) fields[filter.field] = values.length === 1 ? values[0] : values;
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
  return { ...siteOf(params), ...filterFields(tailFilters, params), limit: TAIL_ROWS_MAX };
}
