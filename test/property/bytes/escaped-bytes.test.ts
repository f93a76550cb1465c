/** Bytes of a header that are no UTF-8, beside the platform's decoder. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeInvalidUtf8 } from '../../../src/bytes/escaped-bytes.ts';
import { runs } from '../../support/properties.ts';

const ESCAPE = /\\x([89a-f][0-9a-f])/g;
const LOST = /\ufffd/g;

/** Texts and other bytes in turn, without what looks like an escape. */
const bytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }).map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 5 }),
    ),
  )
  .map((parts) => Buffer.concat(parts).toString('latin1').replaceAll('\\', ''));

test('bytes that the decoder loses are escaped, and no others', () => {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  fc.assert(
    fc.property(bytes, (given) => {
      const escaped = escapeInvalidUtf8(given);
      const text = strict.decode(Buffer.from(escaped, 'latin1'));
      const decoded = decoder.decode(Buffer.from(given, 'latin1'));
      expect(text.replaceAll(ESCAPE, '').replaceAll(LOST, '')).toBe(decoded.replaceAll(LOST, ''));
      expect(escaped.replaceAll(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))).toBe(given);
    }),
    { numRuns: runs(1000) },
  );
});
