/** Any result for people, where a command has no print of its own: lists of objects are tables, objects are fields. */
import type { Screen } from './screen.ts';
import { fields, shown, table, timeText, type TextColumn } from './table.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Columns above this number are not read. The first ones say what a row is; `--json` has all. */
const COLUMNS_MAX = 9;
/** Names of times, and the least number that is one in milliseconds and not a duration. */
const TIME = /(?:At|since|until|timestamp|Since|Until)$/;
const MS_MIN = 1e11;

export function valueLines(value: unknown, screen: Screen): string[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return listLines(value, screen);
  if (!isFields(value)) return [shown(value)];
  const lists = Object.entries(value).filter(([, inner]) => isList(inner));
  const rest = Object.entries(value).filter(([, inner]) => !isList(inner));
  const parts = [
    fields(rest.flatMap(flattened), screen),
    ...lists.map(([name, list]) => [`${name}:`, ...listLines(list as unknown[], screen)]),
  ].filter((lines) => lines.length > 0);
  return parts.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines]));
}

function listLines(list: readonly unknown[], screen: Screen): string[] {
  if (list.length === 0) return ['None.'];
  if (!list.every(isFields)) return list.map(shown);
  const names = [...new Set(list.flatMap((row) => Object.keys(row)))].slice(0, COLUMNS_MAX);
  const columns = names.map((title): TextColumn<Fields> => ({ title, cell: (row) => cellOf(title, row[title]) }));
  return table(columns, list, screen);
}

function cellOf(name: string, value: unknown): string | number | null {
  if (typeof value === 'number') return TIME.test(name) && value >= MS_MIN ? timeText(value) : value;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return value.length === 0 ? null : value.join(', ');
  return value === null || value === undefined ? null : shown(value);
}

/** `{a: {b: 1}}` is `a.b  1`, one level deep. */
function flattened([name, value]: [string, unknown]): [string, unknown][] {
  if (!isFields(value)) return [[name, cellOf(name, value)]];
  return Object.entries(value).map(([inner, one]) => [`${name}.${inner}`, cellOf(inner, one)]);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list that is a table. A list of texts is one value. */
function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isFields);
}
