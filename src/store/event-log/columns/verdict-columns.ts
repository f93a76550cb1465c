/**
 * What a sealed verdict is searched by, beside its keys and its time: the fields with few values as one column, its
 * class, so that any combination of them is counted from its dictionary.
 */
import type { LogRecord } from '../log-record.ts';
import { filteredRow, passesClass, type RowClass, type RowFilter } from '../row-filter.ts';
import { where } from './field-test.ts';
import { isToldApart } from './key-lookup.ts';
import type { ColumnTest, SegmentSearch } from './segment-search.ts';

/** Number of the column in `segment_columns`. */
export const CLASS_COLUMN = 1;

type ClassText = [
  outcome: number,
  source: string,
  device: string,
  fired: number,
  bot: string | null,
  proof: string | null,
];

export function classText(record: LogRecord): string {
  const { outcome, source, device, bot, proof, rules } = filteredRow(record);
  const text: ClassText = [outcome, source, device, rules.length, bot, proof];
  return JSON.stringify(text);
}

export interface VerdictSearch extends SegmentSearch {
  /** `false`: keys and columns alone do not tell the rows apart, so the rows found must be compared in full. */
  isSure: boolean;
}

/** The filter as a search of sealed segments. */
export function verdictSearch(filter: RowFilter): VerdictSearch {
  const { since, until, jti, ip, firedRules, asns, id, shortId } = filter;
  // The keys that find the fewest rows come first: only their rows are looked at.
  const keys: SegmentSearch['keys'][number][] = [];
  if (jti !== null) keys.push({ field: 'jti', texts: [jti] });
  if (ip !== null) keys.push({ field: 'ip', texts: [ip] });
  if (asns) keys.push({ field: 'asn', texts: asns.map(String) });
  if (firedRules) keys.push({ field: 'rule', texts: firedRules });
  // Every path starts with the empty text.
  const path = filter.path?.prefix && filter.path.text === '' ? null : filter.path;
  const texts = [...keys.flatMap((key) => key.texts), path?.text ?? ''];
  const isSure = id === null && shortId === null && texts.every(isToldApart);
  return { since, until, keys, path, all: classTests(filter), any: [], isSure };
}

function classTests(filter: RowFilter): ColumnTest[] {
  const { outcomes, sources, devices, bots, proofs, minRulesFired } = filter;
  const isTested = [outcomes, sources, devices, bots, proofs].some((list) => list !== null) || minRulesFired > 0;
  if (!isTested) return [];
  const test = where((value) => {
    const [outcome, source, device, fired, bot, proof] = value as ClassText;
    const one: RowClass = { outcome, source, device, bot, proof };
    return passesClass(filter, one, fired);
  });
  return [{ column: CLASS_COLUMN, test, isBesideKeys: true }];
}
