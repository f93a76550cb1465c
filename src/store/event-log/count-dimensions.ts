/**
 * The dimensions that records are counted by. A value is a string; the empty string means that the record has none.
 * `decision` is no stored dimension, because every count is split by outcome.
 */
import type { VerdictDimension } from '../../contract/management/verdict-query.ts';
import { type BotRecord, recordBotPaths, recordBotValues } from './bot-counts.ts';
import { latencyStep } from './latency-steps.ts';

export const storedDimensions = [
  'none',
  'source',
  'country',
  'asn',
  'ip_category',
  'ja4',
  'user_agent',
  'request_path',
  'fired_rule',
  'device_type',
  'enforcement_policy',
  // In steps, for percentiles. A record without it is not counted.
  'origin_ms',
  // With proof and outcome (`bot-counts.ts`), and with what it asked for. A record without a bot is not counted.
  'bot',
  'bot_path',
  // The gate's own calls once more, by the name and the value of each dimension that people list: `country DE`. A reader
  // who wants visitors only subtracts them. Other records are not counted here.
  'internal',
] as const satisfies readonly (VerdictDimension | 'origin_ms' | 'bot_path' | 'internal')[];
export type StoredDimension = (typeof storedDimensions)[number];

/** Visitors choose paths and user agents, so those are cut. The record keeps the whole text. */
const VALUE_MAX_CHARS = 256;

const NONE: readonly string[] = [''];
const NOT_COUNTED: readonly string[] = [];
/** `source` has the gate's own calls as a value of its own, and no own call is sent to the origin. */
const notRepeated = new Set<StoredDimension>(['source', 'origin_ms', 'bot_path', 'internal']);

/** The fields of a record that are counted. Records of both streams fit. */
export interface CountedRecord extends BotRecord {
  country?: string | null;
  asn?: number | null;
  ip_category?: readonly string[];
  ja4?: string | null;
  user_agent?: string | null;
  fired_rules?: readonly { id: string }[];
  device_type?: string | null;
  enforcement_policy?: string | null;
  origin_ms?: number | null;
}

/** Values per stored dimension, in the order of `storedDimensions`. */
export function dimensionValues(record: CountedRecord): (readonly string[])[] {
  const rules = record.fired_rules ?? [];
  const categories = record.ip_category ?? [];
  const values: (readonly string[])[] = [
    NONE,
    [record.source],
    [record.country ?? ''],
    [record.asn == null ? '' : String(record.asn)],
    categories.length === 0 ? NONE : [...new Set(categories)],
    [record.ja4 ?? ''],
    [countedForm(record.user_agent ?? '')],
    [countedForm(record.request_path ?? '')],
    rules.length === 0 ? NONE : [...new Set(rules.map(({ id }) => id))],
    [record.device_type ?? ''],
    [record.enforcement_policy ?? ''],
    record.origin_ms == null ? [] : [String(latencyStep(record.origin_ms))],
    recordBotValues(record),
    recordBotPaths(record, countedForm),
  ];
  values.push(record.source === 'internal' ? internalValues(values) : NOT_COUNTED);
  return values;
}

function internalValues(values: readonly (readonly string[])[]): readonly string[] {
  return storedDimensions.flatMap((dimension, index) =>
    notRepeated.has(dimension) ? [] : (values[index] ?? []).map((value) => internalValue(dimension, value)),
  );
}

/** What the gate's own calls with a value of a dimension are counted under. */
export function internalValue(dimension: StoredDimension, value: string): string {
  return `${dimension} ${value}`;
}

/** The form that a value is counted under. A filter looks it up by the same function. */
export function countedForm(value: string): string {
  return value.length <= VALUE_MAX_CHARS ? value : value.slice(0, VALUE_MAX_CHARS);
}
