/**
 * Tables for people: aligned columns that fit the terminal. Where the columns do not fit even when they are cut, each row
 * is a block of lines. What visitors chose has no control characters here, so it cannot move the cursor.
 */
import { printable } from './printable.ts';
import { cutToWidth, type Screen, widthOf } from './screen.ts';

export interface TextColumn<Row> {
  title: string;
  cell(row: Row): string | number | boolean | null | undefined;
  /** Of a value as the table shows it. */
  style?(text: string): Parameters<Screen['style']>[0] | null;
  /** Never cut, such as an id that is copied. */
  isWhole?: boolean;
  /** Left out where the terminal is too narrow, the last one first. */
  isExtra?: boolean;
  /** A cut column keeps so many characters. */
  least?: number;
}

const GAP = '  ';
const CUT_MIN = 8;

export function table<Row>(columns: readonly TextColumn<Row>[], rows: readonly Row[], screen: Screen): string[] {
  const cells = rows.map((row) => columns.map((column) => shown(column.cell(row))));
  const layout = layoutOf(columns, cells, screen.columns);
  if (layout === null) return blocks(columns, cells, screen);
  const numbers = columns.map((column) => rows.length > 0 && rows.every((row) => isCount(column.cell(row))));
  const line = lineOf(columns, layout, numbers, screen);
  return [headOf(columns, line, screen), ...cells.map((row) => line(row))];
}

/**
 * A table whose rows come one after another: `sample` has the widths. A longer value moves what is behind it, but for the
 * last column that may be cut.
 */
export function liveTable<Row>(
  columns: readonly TextColumn<Row>[],
  sample: Row,
  screen: Screen,
): { head: string; line: (row: Row) => string } {
  const typical = columns.map((column) => shown(column.cell(sample)));
  const layout = layoutOf(columns, [typical], screen.columns) ?? { kept: columns.map((_, at) => at), widths: [] };
  const line = lineOf(columns, layout, [], screen);
  return {
    head: headOf(columns, line, screen),
    line: (row) => line(columns.map((column) => shown(column.cell(row)))),
  };
}

type Line = (texts: readonly string[], style?: (text: string, at: number) => string) => string;

interface Layout {
  /** Indexes of the columns that are shown. */
  kept: readonly number[];
  /** By index of all columns. */
  widths: readonly number[];
}

function lineOf<Row>(
  columns: readonly TextColumn<Row>[],
  { kept, widths }: Layout,
  numbers: readonly boolean[],
  screen: Screen,
): Line {
  return (texts, style) =>
    kept
      .map((at) => {
        const [whole, width] = [texts[at] ?? '', widths[at] ?? 0];
        const short = columns[at]?.isWhole === true ? whole : cutToWidth(whole, width);
        const pad = ' '.repeat(Math.max(0, width - widthOf(short)));
        const styled = style === undefined ? styledCell(columns[at], short, whole, screen) : style(short, at);
        return numbers[at] ? pad + styled : styled + pad;
      })
      .join(GAP)
      .trimEnd();
}

function headOf<Row>(columns: readonly TextColumn<Row>[], line: Line, screen: Screen): string {
  return line(
    columns.map(({ title }) => title),
    (text) => screen.style('bold', text),
  );
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
  return (
    typeof value === 'number' || value === null || (typeof value === 'string' && /^\d[\d,]*(\.\d+)?( %)?$/.test(value))
  );
}

function styledCell<Row>(column: TextColumn<Row> | undefined, text: string, whole: string, screen: Screen): string {
  const style = column?.style?.(whole) ?? null;
  return style === null ? text : screen.style(style, text);
}

/** Columns that can be left out go first, from the right. `null`: the others do not fit. */
function layoutOf<Row>(columns: readonly TextColumn<Row>[], cells: readonly string[][], room: number): Layout | null {
  const kept = columns.map((_, at) => at);
  for (;;) {
    const widths = fitted(columns, kept, cells, room);
    if (widths !== null) return { kept, widths };
    const extra = kept.findLast((at) => columns[at]?.isExtra === true);
    if (extra === undefined) break;
    kept.splice(kept.indexOf(extra), 1);
  }
  const narrow = columns.map((column) => ({ ...column, least: CUT_MIN }));
  const widths = fitted(narrow, kept, cells, room);
  return widths === null ? null : { kept, widths };
}

/** The widest column that may be cut is cut first. */
function fitted<Row>(
  columns: readonly TextColumn<Row>[],
  kept: readonly number[],
  cells: readonly string[][],
  room: number,
): number[] | null {
  const widths = columns.map(({ title }, at) =>
    kept.includes(at) ? Math.max(widthOf(title), ...cells.map((row) => widthOf(row[at] ?? ''))) : 0,
  );
  const minima = columns.map(({ title, isWhole, least = CUT_MIN }, at) =>
    isWhole === true ? (widths[at] ?? 0) : Math.min(widths[at] ?? 0, Math.max(least, widthOf(title))),
  );
  let over = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (kept.length - 1) - room;
  while (over > 0) {
    const slack = widths.map((width, at) => width - (minima[at] ?? 0));
    const at = slack.indexOf(Math.max(...slack));
    if ((slack[at] ?? 0) <= 0) return null;
    const step = Math.min(over, Math.ceil((slack[at] ?? 0) / 2));
    widths[at] = (widths[at] ?? 0) - step;
    over -= step;
  }
  return widths;
}

function blocks<Row>(columns: readonly TextColumn<Row>[], cells: readonly string[][], screen: Screen): string[] {
  return cells.flatMap((row, index) => {
    const pairs = columns.map(({ title }, at) => [title, row[at]] as const).filter(([, text]) => text !== '–');
    return [...(index === 0 ? [] : ['']), ...fields(pairs, screen)];
  });
}

/** The colours of decisions, in every table that shows them. */
const styles = { allow: 'green', challenge: 'yellow', block: 'red' } as const;

export function decisionStyle(decision: string): (typeof styles)[keyof typeof styles] | null {
  return Object.hasOwn(styles, decision) ? styles[decision as keyof typeof styles] : null;
}

/** `2026-11-23 18:05:09`, from epoch milliseconds. `null`: never. */
export function timeText(ms: number | null | undefined): string | null {
  if (ms === null || ms === undefined) return null;
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString().slice(0, 19).replace('T', ' ');
}
