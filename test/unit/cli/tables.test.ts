/** What people see: aligned tables that fit the terminal, and nothing in them that a visitor could control it with. */
import { describe, expect, test } from 'vitest';
import { jsonText } from '../../../src/cli/print/printable.ts';
import { cutToWidth, progressOn, screenOf, widthOf } from '../../../src/cli/print/screen.ts';
import { table } from '../../../src/cli/print/table.ts';
import { valueLines } from '../../../src/cli/print/value.ts';
import { expectRows } from '../../support/rows.ts';

interface Row {
  id: string;
  path: string;
  count: number;
}

const columns = [
  { title: 'ID', cell: ({ id }: Row) => id, isWhole: true },
  { title: 'PATH', cell: ({ path }: Row) => path },
  { title: 'COUNT', cell: ({ count }: Row) => count },
];
const terminal = (width: number, env = {}) => screenOf({ isTTY: true, columns: width }, env);
const file = screenOf({}, {});

describe('a table', () => {
  test('has words on the left, numbers on the right, and no blanks at the end of a line', () => {
    const rows = [
      { id: 'a', path: '/', count: 5 },
      { id: 'bcd', path: '/shop', count: 12_345 },
    ];
    expect(table(columns, rows, file)).toEqual(['ID   PATH   COUNT', 'a    /          5', 'bcd  /shop  12345']);
  });

  test('is never wider than the terminal, and keeps an id whole', () =>
    expectRows([40, 60, 80, 120], (width) => {
      const id = '01a20432-74c6-7eac';
      const rows = [{ id, path: `/${'日本'.repeat(200)}`, count: 1 }];
      const lines = table(columns, rows, terminal(width, { NO_COLOR: '1' }));
      expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
      expect(lines.join('\n')).toContain(id);
      expect(lines.join('\n')).toContain('…');
    }));

  test('is whole in a file, however long its values are', () => {
    const path = `/${'a'.repeat(5000)}`;
    expect(table(columns, [{ id: 'a', path, count: 1 }], file)[1]).toBe(`a   ${path}      1`);
  });

  test('of more columns than fit is one block of lines for each row', () => {
    const wide = Array.from({ length: 12 }, (_, at) => ({ title: `COLUMN ${at}`, cell: () => `value ${at}` }));
    expect(table(wide, [1, 2], terminal(60, { NO_COLOR: '1' }))).toEqual([
      ...wide.map(({ title, cell }) => `${title.padEnd(9)}  ${cell()}`),
      '',
      ...wide.map(({ title, cell }) => `${title.padEnd(9)}  ${cell()}`),
    ]);
  });

  test('shows control characters of a visitor as replacements', () =>
    expectRows(
      [
        ['the escape of a colour', '\u001B[31mred'],
        ['a line break', 'a\nb'],
        ['a direction override', 'a\u202Eb'],
        ['an eight-bit escape', '\u009B31m'],
      ],
      ([, path]) => {
        const text = table(columns, [{ id: 'a', path, count: 1 }], terminal(80, { NO_COLOR: '1' })).join('\n');
        expect(text).toContain('\u{FFFD}');
        expect(text).not.toMatch(/[^\P{C}\n]/u);
        expect(text.split('\n')).toHaveLength(2);
      },
    ));
});

test('only a terminal that wants colours has them', () =>
  expectRows(
    [
      ['a terminal', { isTTY: true }, {}, true],
      ['a terminal with NO_COLOR', { isTTY: true }, { NO_COLOR: '1' }, false],
      ['a dumb terminal', { isTTY: true }, { TERM: 'dumb' }, false],
      ['a file', {}, {}, false],
      ['a file with FORCE_COLOR', {}, { FORCE_COLOR: '1' }, false],
    ],
    ([, output, env, hasColour]) => {
      expect(screenOf(output, env).style('red', 'x') !== 'x').toBe(hasColour);
    },
  ));

test('a cut text never has half a character', () => {
  expect(cutToWidth('👩‍👩‍👧‍👦 family', 3)).toBe('👩‍👩‍👧‍👦…');
  expect(cutToWidth('short', 5)).toBe('short');
});

test('JSON has no character that controls a terminal, and the same value', () => {
  const value = { path: '/\u009B31m\u202Eabc\u2028', text: '日本' };
  expect(jsonText(value)).not.toMatch(/[\u007F-\u009F\u2028-\u202E]/);
  expect(JSON.parse(jsonText(value))).toEqual(value);
});

test('any value has lines for people: fields, tables of lists, times as dates', () => {
  const value = { name: 'shop', createdAt: 1_763_920_800_000, report: { lines: 3 }, rules: [{ id: 'a', count: 1 }] };
  expect(valueLines(value, file)).toEqual([
    'name          shop',
    'createdAt     2025-11-23 18:00:00',
    'report.lines  3',
    '',
    'rules:',
    'id  count',
    'a       1',
  ]);
});

describe('a progress bar', () => {
  const written = (isTTY: boolean) => {
    const lines: string[] = [];
    let nowMs = 0;
    const output = { isTTY, columns: 60, write: (text: string) => lines.push(text) };
    const progress = progressOn(output, 'rules import', () => nowMs);
    return { lines, progress, wait: (ms: number) => (nowMs += ms) };
  };

  test('is drawn on a terminal only', () => {
    const { lines, progress } = written(false);
    progress.at(1, 2, 'half');
    progress.end();
    expect(lines).toEqual([]);
  });

  test('has the share of a known total, and is drawn at most ten times a second', () => {
    const { lines, progress, wait } = written(true);
    progress.at(50, 100, '50 lines');
    progress.at(51, 100, '51 lines');
    wait(100);
    progress.at(75, 100, '75 lines');
    progress.at(100, 100, '100 lines');
    expect(lines.map((line) => /\] (\d+) %/.exec(line)?.[1])).toEqual(['50', '75', '100']);
    expect(Math.max(...lines.map((line) => widthOf(line)))).toBeLessThan(60);
  });
});
