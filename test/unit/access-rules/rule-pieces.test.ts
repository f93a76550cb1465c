import { expect, test } from 'vitest';
import { rulePieces } from '../../../src/contract/management/rule-file/rule-pieces.ts';

async function pieces(text: string, format: string | undefined, maxLines: number) {
  async function* lines() {
    yield* text.split('\n');
  }
  const all = [];
  for await (const piece of rulePieces(lines(), format, maxLines)) all.push(piece);
  return all;
}

test('a long list is sent in pieces with their line numbers', async () => {
  expect(await pieces('a\nb\nc\nd\ne', 'list', 2)).toMatchObject([
    { content: 'a\nb', firstLine: 1, lastLine: 2 },
    { content: 'c\nd', firstLine: 3, lastLine: 4 },
    { content: 'e', firstLine: 5, lastLine: 5 },
  ]);
});

test('later pieces of a CSV file have its heading', async () => {
  expect(await pieces('verdict,type,value\nblock,ip,192.0.2.1\nblock,ip,192.0.2.2', undefined, 2)).toMatchObject([
    { format: 'csv', columns: undefined },
    { format: 'csv', columns: ['verdict', 'type', 'value'], content: 'block,ip,192.0.2.2' },
  ]);
});

test('a quoted field with line breaks is not cut', async () => {
  const cut = await pieces('ip,192.0.2.1,block,,,,"a\nb"\nip,192.0.2.2,block', 'csv', 1);
  expect(cut.map((piece) => piece.content)).toEqual(['ip,192.0.2.1,block,,,,"a\nb"', 'ip,192.0.2.2,block']);
});
