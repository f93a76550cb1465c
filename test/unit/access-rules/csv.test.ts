import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvLine, csvRecords } from '../../../src/bytes/csv.ts';
import { runs } from '../../support/properties.ts';

describe('CSV', () => {
  test('reads quotes, doubled quotes, commas and line breaks inside a field', () => {
    expect([...csvRecords('a,"b ""c"", d",e\r\n"two\nlines",f\n\nlast')]).toEqual([
      { line: 1, fields: ['a', 'b "c", d', 'e'] },
      { line: 2, fields: ['two\nlines', 'f'] },
      { line: 4, fields: [''] },
      { line: 5, fields: ['last'] },
    ]);
  });

  test('a quote that is never closed is an error of its record only', () => {
    expect([...csvRecords('a,b\n"c,d\ne,f')]).toEqual([
      { line: 1, fields: ['a', 'b'] },
      { line: 2, fields: ['c,d\ne,f'], error: 'has a quote that is not closed' },
    ]);
  });

  test('blanks may stand before a quote', () => {
    expect([...csvRecords('a, "b, c" ,d')]).toEqual([{ line: 1, fields: ['a', 'b, c', 'd'] }]);
  });

  test('text after a closing quote is an error of its record only', () => {
    const [first, second] = csvRecords('"a"b,c\nd,e');
    expect(first?.error).toBe('has text after a closing quote');
    expect(second).toEqual({ line: 2, fields: ['d', 'e'] });
  });

  test('a line of commas is an error, not an empty field for each', () => {
    const [first, second] = csvRecords(`${','.repeat(1_000_000)}\nd,e`);
    expect(first?.error).toBe('has more than 64 fields');
    expect(first?.fields).toHaveLength(64);
    expect(second).toEqual({ line: 2, fields: ['d', 'e'] });
  });

  test('no field that is written begins like a formula of a spreadsheet', () => {
    const fields = ['=HYPERLINK("http://evil.example")', '+1', '-1', '@SUM(A1)', '\t=1', "'=1", "'quoted'", 'a=b'];
    const line = csvLine(fields);
    expect(line).toBe(`"'=HYPERLINK(""http://evil.example"")",'+1,'-1,'@SUM(A1),"'\t=1",''=1,'quoted',a=b`);
    expect([...csvRecords(line)].map((record) => record.fields)).toEqual([fields]);
  });

  test('a written record reads back the same', () => {
    const field = fc.stringMatching(/^[a-z",\n\r; #='+@\t-]{0,12}$/);
    fc.assert(
      fc.property(fc.array(fc.array(field, { minLength: 2, maxLength: 5 }), { maxLength: 6 }), (records) => {
        const text = records.map(csvLine).join('\n');
        expect([...csvRecords(text)].map((record) => record.fields)).toEqual(records);
      }),
      { numRuns: runs(2000) },
    );
  });
});
