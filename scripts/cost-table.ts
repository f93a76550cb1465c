/** Writes the table of docs/operations.md#cost as `npm run gatehouse -- cost` computes it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { documentedCost } from '../src/cli/cost/cost.ts';

const PAGE = 'docs/operations.md';
const [BEGIN, END] = ['<!-- cost table -->\n', '<!-- end of the cost table -->'];

const { head, rows } = documentedCost();
const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
const table = [line(head), line(head.map(() => '---')), ...rows.map(line)].join('');
const page = readFileSync(PAGE, 'utf8');
const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
if (begin < 0 || end < begin) throw new Error(`${PAGE} has no place for the cost table`);
writeFileSync(PAGE, `${page.slice(0, begin + BEGIN.length)}\n${table}\n${page.slice(end)}`);
