/** The table of sections at the start of a snapshot. The signature says nothing about it. */
import { expect, test } from 'vitest';
import { readSnapshot, writeLength } from '../../../src/rules/layout.ts';
import { compile } from './rulesets.ts';

const SECTIONS_AT = 12;
const TABLE_AT = 48;

/** The first `length` bytes of a snapshot, changed, with its length. */
function changed(length: number, change: (header: DataView) => void): Uint8Array {
  const bytes = compile([]).slice(0, length);
  change(new DataView(bytes.buffer));
  writeLength(bytes);
  return bytes;
}

const { length } = compile([]);
const sectionCount = new DataView(compile([]).buffer).getUint32(SECTIONS_AT, true);
const tableEnd = TABLE_AT + sectionCount * 8;

test.each([-1, 1])('a snapshot with %d sections more is refused', (more) => {
  const bytes = changed(length, (header) => header.setUint32(SECTIONS_AT, sectionCount + more, true));
  expect(readSnapshot(bytes)).toEqual({ ok: false, error: 'sections' });
});

test('a snapshot that ends inside its table is refused', () => {
  expect(readSnapshot(changed(tableEnd - 8, () => undefined))).toEqual({ ok: false, error: 'sections' });
});

test('a snapshot of empty sections may end behind its table', () => {
  const bytes = changed(tableEnd, (header) => {
    for (let at = TABLE_AT; at < tableEnd; at += 8) {
      header.setUint32(at, tableEnd, true);
      header.setUint32(at + 4, 0, true);
    }
  });
  expect(readSnapshot(bytes).ok).toBe(true);
});
