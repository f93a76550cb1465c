/** What the beginnings of headers hold is kept within bounds. `property/rules/heads.test.ts` compares the results. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { type Head, HEAD_CHARS, HeadMemory } from '../../../src/rules/head-memory.ts';

const TIMES = 4;
const beginning = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';

/** Which of these headers had a remembered beginning, as the matcher sees it, and how many beginnings were searched. */
function asked(headers: readonly string[], patterns = 0, memory = new HeadMemory()) {
  const searched: string[] = [];
  const search = (text: string): Head => {
    searched.push(text);
    return { short: [], long: Array.from({ length: patterns }, (_, p) => p), resumeAt: HEAD_CHARS };
  };
  const found = headers.map((header) => memory.headOf(header, search) !== null);
  return { found, searched };
}

const versions = (text: string): string[] => Array.from({ length: TIMES }, (_, i) => `${text} Chrome/${i}`);

describe('the beginning of a header', () => {
  test('is searched when it arrives again, and remembered from then on', () => {
    const head = beginning.slice(0, HEAD_CHARS);
    expect(asked(versions(beginning))).toEqual({ found: [false, true, true, true], searched: [head] });
  });

  test('is not remembered of a header that ends with it, or is longer than those of browsers', () => {
    expect(asked(Array(TIMES).fill(beginning.slice(0, HEAD_CHARS))).searched).toEqual([]);
    expect(asked(versions(beginning.padEnd(256, '.'))).searched).toEqual([]);
  });

  test('is not remembered with more than sixteen patterns, which is found out once', () => {
    expect(asked(versions(beginning), 16).found).toEqual([false, true, true, true]);
    const many = asked(versions(beginning), 17);
    expect(many.found).toEqual([false, false, false, false]);
    expect(many.searched).toHaveLength(1);
  });

  test('is compared whole', () => {
    const memory = new HeadMemory();
    asked(versions(beginning), 0, memory);
    for (let at = 0; at < HEAD_CHARS; at++) {
      const other = `${beginning.slice(0, at)}!${beginning.slice(at + 1)}`;
      for (const text of [other, beginning]) {
        const { searched } = asked(versions(text), 0, memory);
        // A beginning in another slot displaces nothing.
        if (text === other || searched.length > 0) expect(searched).toEqual([text.slice(0, HEAD_CHARS)]);
      }
    }
  });

  test('that arrives once is not searched, however many others there are', () => {
    const many = Array.from({ length: 5000 }, (_, i) => createHash('sha512').update(`${i}`).digest('hex'));
    expect(asked(many).searched).toEqual([]);
  });
});
