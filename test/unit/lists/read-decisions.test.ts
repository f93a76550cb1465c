import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDecisionStream, readJsonObjects } from '../../../src/lists/read-decisions.ts';
import { listErrorText } from '../../../src/lists/list-format.ts';
import { expectRows } from '../../support/rows.ts';
import { streamOf, valuesOf } from './lists-under-test.ts';

const decision = (value: string, scope = 'Ip', type = 'ban') => ({
  id: 1,
  origin: 'CAPI',
  type,
  scope,
  value,
  duration: '1h',
});

async function decisions(document: unknown, verdict: 'allow' | 'challenge' | 'block' = 'block') {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  const read = await readDecisionStream(streamOf(text), verdict, false);
  if (!read.ok) return listErrorText(read.error);
  return { added: valuesOf(read.value.added), deleted: valuesOf(read.value.deleted), report: read.value.report };
}

describe("CrowdSec's decisions", () => {
  test('are added and deleted by scope', async () => {
    expect(
      await decisions({
        new: [
          decision('1.2.3.4'),
          decision('5.6.7.0/24', 'Range'),
          decision('64496', 'AS'),
          decision('de', 'Country'),
          decision('bob', 'username'),
          decision('10.0.0.1'),
        ],
        deleted: [decision('9.9.9.9')],
      }),
    ).toMatchObject({
      added: ['1.2.3.4/32', '5.6.7.0/24', '64496', 'DE'],
      deleted: ['9.9.9.9/32'],
      report: { lines: 6, notUnderstood: 1, reserved: 1 },
    });
  });

  test('of an unknown scope are reported without what acts on a terminal', async () => {
    const read = await decisions({ new: [decision('1.2.3.4', `\u001b[2J\u202e${'x'.repeat(500)}`)] });
    const reason = typeof read === 'string' ? '' : read.report.examples[0]?.reason;
    expect(reason).toBe(`has the scope [2J ${'x'.repeat(75)}`);
  });

  test('may be none', async () => {
    expect(await decisions({ new: null, deleted: null })).toMatchObject({ added: [], deleted: [] });
  });

  test('of other types belong to lists with another verdict', async () => {
    const document = { new: [decision('1.2.3.4'), decision('5.6.7.8', 'Ip', 'captcha')] };
    expect(await decisions(document)).toMatchObject({ added: ['1.2.3.4/32'] });
    expect(await decisions(document, 'challenge')).toMatchObject({ added: ['1.2.3.4/32', '5.6.7.8/32'] });
  });

  test('are refused when the answer is not their JSON', () =>
    expectRows(
      [
        ['a list', '[]', 'The answer is not JSON'],
        ['a page', '<html></html>', 'The answer is not JSON'],
        ['nothing', '', 'The answer is not JSON'],
        ['cut off', '{"new": [{"type": "ban"', 'The answer broke off'],
        ['followed by more', '{"new": []} x', 'The answer is not JSON'],
      ],
      async ([, text, error]) => {
        expect(await decisions(text)).toBe(error);
      },
    ));
});

test('objects in lists are found like by a parser of the whole document, wherever the chunks end', async () => {
  const json = fc.jsonValue({ depthSize: 'small' });
  const object = fc.dictionary(fc.string({ maxLength: 5 }), json, { maxKeys: 3 });
  const lists = fc.dictionary(
    fc.constantFrom('new', 'deleted', 'other', 'a "b"'),
    fc.option(fc.array(object, { maxLength: 4 })),
  );
  await fc.assert(
    fc.asyncProperty(
      lists,
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(undefined, 2),
      async (document, chunk, indent) => {
        const found: [string, unknown][] = [];
        const text = JSON.stringify(document, null, indent);
        const read = await readJsonObjects(
          streamOf(text, chunk),
          1_000_000,
          (list, each) => found.push([list, each]) > 0,
        );
        expect(read.ok).toBe(true);
        const parsed = JSON.parse(text) as Record<string, unknown[] | null>;
        const expected = Object.entries(parsed).flatMap(([list, items]) => (items ?? []).map((item) => [list, item]));
        expect(found.map(([list, each]) => [JSON.parse(`"${list}"`), each])).toEqual(expected);
      },
    ),
  );
});
