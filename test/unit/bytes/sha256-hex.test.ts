/** The hash of a text is that of its bytes in UTF-8. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256Hex } from '../../../src/bytes/hex.ts';

test('a text and its bytes have the hash that Node gives them', async () => {
  for (const text of ['', 'abc', 'ü€😀']) {
    const expected = createHash('sha256').update(text).digest('hex');
    expect(await sha256Hex(text)).toBe(expected);
    expect(await sha256Hex(new TextEncoder().encode(text))).toBe(expected);
  }
});
