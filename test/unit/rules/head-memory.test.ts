/** What the beginnings of headers hold is kept within bounds. `property/rules/heads.test.ts` compares the results. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { HEAD_CHARS, HeadMemory } from '../../../src/rules/head-memory.ts';
import type { Head } from '../../../src/rules/head-memory.ts';

const TIMES = 4;
const beginning = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';
const nothing = { short: [], long: [], resumeAt: HEAD_CHARS };

/** How often each header's beginning is searched, and whether it is then remembered. */
function asked(headers: readonly string[], patterns = 0, memory = new HeadMemory()) {
  let searches = 0;
  const search = (text: string): Head => {
    searches++;
    return { ...nothing, text, long: Array.from({ length: patterns }, (_, p) => p) };
  };
  const found = headers.map((header) => memory.headOf(header, search)?.text ?? null);
  return { found, searches };
}

const versions = (text: string): string[] => Array.from({ length: TIMES }, (_, i) => `${text} Chrome/${i}`);

describe('the beginning of a header', () => {
  test('is searched when it arrives again, and remembered from then on', () => {
    const head = beginning.slice(0, HEAD_CHARS);
    expect(asked(versions(beginning))).toEqual({ found: [null, head, head, head], searches: 1 });
  });

  test('is not remembered of a header that ends with it, or is longer than those of browsers', () => {
    expect(asked(Array(TIMES).fill(beginning.slice(0, HEAD_CHARS))).searches).toBe(0);
    expect(asked(versions(beginning.padEnd(256, '.'))).searches).toBe(0);
  });

  test('is not remembered with more than sixteen patterns', () => {
    expect(asked(versions(beginning), 16).searches).toBe(1);
    expect(asked(versions(beginning), 17).found).toEqual([null, null, null, null]);
  });

  test('is compared whole', () => {
    const memory = new HeadMemory();
    for (let at = 0; at < HEAD_CHARS; at++) {
      const other = `${beginning.slice(0, at)}!${beginning.slice(at + 1)}`;
      for (const text of [beginning, other, beginning, other]) {
        const { found } = asked(versions(text), 0, memory);
        expect(found.at(-1)).toBe(text.slice(0, HEAD_CHARS));
      }
    }
  });

  test('that arrives once is not searched, however many others there are', () => {
    const many = Array.from({ length: 5000 }, (_, i) => createHash('sha512').update(`${i}`).digest('hex'));
    expect(asked(many).searches).toBe(0);
  });
});
