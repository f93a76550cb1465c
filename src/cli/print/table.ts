/**
 * Tables for people: aligned columns that fit the terminal. Where the columns do not fit even when they are cut, each row
 * is a block of lines. What visitors chose has no control characters here, so it cannot move the cursor.
 */
import { printable } from '../printable.ts';
import { cut, widthOf } from './screen.ts';
import type { Screen } from './screen.ts';

export interface Column<Row> {
  title: string;
  cell(row: Row): string | number | boolean | null | undefined;
  /** Of a value as the table shows it. */
  style?(text: string): Parameters<Screen['style']>[0] | null;
  /** Never cut, such as an id that is copied. */
  isWhole?: boolean;
}

const GAP = '  ';
/** A cut column keeps so many characters. */
const CUT_MIN = 8;

export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], screen: Screen): string[] {
  const cells = rows.map((row) => columns.map((column) => shown(column.cell(row))));
  const widths = fitted(columns, cells, screen.columns);
  if (widths === null) return blocks(columns, cells, screen);
  const numbers = columns.map((column) => rows.length > 0 && rows.every((row) => isCount(column.cell(row))));
  const line = (texts: readonly string[], styled: (text: string, at: number) => string): string =>
    texts
      .map((text, at) => {
        const short = cut(text, widths[at] ?? 0);
        const pad = ' '.repeat(Math.max(0, (widths[at] ?? 0) - widthOf(short)));
        return numbers[at] ? pad + styled(short, at) : styled(short, at) + pad;
      })
      .join(GAP)
      .trimEnd();
  const titles = columns.map(({ title }) => title);
  return [
    line(titles, (text) => screen.style('bold', text)),
    ...cells.map((row) => line(row, (text, at) => styledCell(columns[at], text, row[at] ?? '', screen))),
  ];
}

/** One value a line: `name  value`. */
export function fields(pairs: readonly (readonly [name: string, value: unknown])[], screen: Screen): string[] {
  const known = pairs.filter(([, value]) => value !== undefined && value !== '');
  const width = Math.max(0, ...known.map(([name]) => widthOf(name)));
  return known.map(([name, value]) => {
    const label = screen.style('bold', name) + ' '.repeat(width - widthOf(name));
    return `${label}${GAP}${shown(value)}`.trimEnd();
  });
}

/** As a cell of a table. */
export function shown(value: unknown): string {
  if (value === null || value === undefined || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object') return printable(JSON.stringify(value));
  return printable(String(value as string | number));
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' || value === null || (typeof value === 'string' && /^\d[\d.,]* ?%?$/.test(value));
}

function styledCell<Row>(column: Column<Row> | undefined, text: string, whole: string, screen: Screen): string {
  const style = column?.style?.(whole) ?? null;
  return style === null ? text : screen.style(style, text);
}

/** The widest column that may be cut is cut first. `null`: the columns do not fit. */
function fitted<Row>(columns: readonly Column<Row>[], cells: readonly string[][], room: number): number[] | null {
  const widths = columns.map(({ title }, at) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[at] ?? ''))),
  );
  const least = columns.map(({ title, isWhole }, at) =>
    isWhole === true ? (widths[at] ?? 0) : Math.min(widths[at] ?? 0, Math.max(CUT_MIN, widthOf(title))),
  );
  let over = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1) - room;
  while (over > 0) {
    const slack = widths.map((width, at) => width - (least[at] ?? 0));
    const at = slack.indexOf(Math.max(...slack));
    if ((slack[at] ?? 0) <= 0) return null;
    const step = Math.min(over, Math.ceil((slack[at] ?? 0) / 2));
    widths[at] = (widths[at] ?? 0) - step;
    over -= step;
  }
  return widths;
}

function blocks<Row>(columns: readonly Column<Row>[], cells: readonly string[][], screen: Screen): string[] {
  return cells.flatMap((row, index) => {
    const pairs = columns.map(({ title }, at) => [title, row[at]] as const).filter(([, text]) => text !== '–');
    return [...(index === 0 ? [] : ['']), ...fields(pairs, screen)];
  });
}
