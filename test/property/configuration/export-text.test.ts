/** What an export writes reads back the same, whatever texts an account has, by every version of YAML. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ConfigDocument } from '../../../src/cli/apply/document.ts';
import { yamlText } from '../../../src/cli/apply/export-config.ts';
import { referenceFor, resolved, SECRET_REFERENCE } from '../../../src/cli/apply/secret-reference.ts';
import { runs } from '../../support/properties.ts';
import { oddTexts } from '../../support/rich-account.ts';

/** Texts that look like something else, texts of the characters that mean something, and any text. */
const text = fc.oneof(
  fc.constantFrom(...oddTexts),
  fc.string({
    unit: fc.constantFrom(...Array.from('-?:,[]{}#&*!|>\'"%@`~=<.0123456789eEoxNnOoYyTt+_ \n\t\\$')),
    maxLength: 12,
  }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.stringMatching(/^[-+]?[0-9][0-9_:.eExXoO]{0,8}$/),
);
const rule = fc.record({ type: fc.constant('userAgent'), value: text, verdict: fc.constant('block'), note: text });
const file = fc.record({
  version: fc.constant(1),
  sites: fc.array(fc.record({ name: text, settings: fc.record({ domains: fc.array(text) }) }), { maxLength: 3 }),
  instances: fc.array(fc.record({ cname: text, name: text, rules: fc.array(rule, { maxLength: 6 }) }), {
    maxLength: 3,
  }),
  users: fc.array(fc.record({ email: text, name: text }), { maxLength: 3 }),
});

const lines = { type: 'userAgent', value: '0', verdict: 'block', note: '-\n-' } as const;

test('an exported file reads back as the same values', () => {
  fc.assert(
    fc.property(file, (value) => {
      const written = yamlText(value, 'https://gatehouse.example.com/gatehouse.schema.json');
      const { value: read, problems } = new ConfigDocument(written);
      expect({ read, problems }).toEqual({ read: value, problems: [] });
      // A reader of the older version takes NO for false where it has no quotes.
      expect(parse(written, { version: '1.1' })).toEqual(value);
    }),
    {
      numRuns: runs(200),
      // Texts of several lines.
      examples: [[{ version: 1, sites: [], instances: [{ cname: 'a', name: ' \n', rules: [lines] }], users: [] }]],
    },
  );
});

test('every text of an account gives a reference that a file may have, and that reads its own variable', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), fc.string(), (words, secret) => {
      const written = referenceFor('LIST', ...words);
      const name = SECRET_REFERENCE.exec(written)?.[1] ?? '';
      expect(name).not.toBe('');
      expect(resolved(`a${written}b`, { [name]: secret || 'x' })).toEqual({ ok: true, value: `a${secret || 'x'}b` });
      expect(resolved(written, {})).toMatchObject({ ok: false, error: expect.stringContaining(name) });
    }),
  );
});
