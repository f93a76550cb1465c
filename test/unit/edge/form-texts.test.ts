/** Which texts of a form's field count for limits by user, where the form has the field again and again. */
import { describe, expect, test } from 'vitest';
import { fieldTexts } from '../../../src/edge/submission/read-submission.ts';

const TIMES = 200_000;
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const forms: [kind: 'urlencoded' | 'json' | 'multipart', type: string, body: (values: string[]) => string][] = [
  ['urlencoded', '', (values) => values.map((value) => `email=${value}`).join('&')],
  ['json', '', (values) => `{${values.map((value) => `"email":"${value}"`).join(',')}}`],
];

describe.each(forms)('%s', (kind, type, body) => {
  const read = (values: string[], field = 'email') => fieldTexts(kind, type, bytesOf(body(values)), field);

  test('has every text of a field that stands there a few times', async () => {
    expect(await read(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    const twenty = Array.from({ length: 20 }, (_, at) => `v${at}`);
    expect(await read(twenty)).toEqual(twenty);
    expect(await read([])).toEqual([]);
  });

  test('has the first and the last texts of a field that stands there two hundred thousand times', async () => {
    const texts = await read(['first', ...Array.from({ length: TIMES }, () => ''), 'last']);
    expect(texts.at(0)).toBe('first');
    expect(texts.at(-1)).toBe('last');
    expect(texts.length).toBeLessThan(64);
  });
});

test('names are found however they are escaped, and no others', async () => {
  const body = bytesOf('%65mail=a&emai%6C=b&email2=c&eMail=d&e+mail=e&email%=f&email=g');
  expect(await fieldTexts('urlencoded', '', body, 'email')).toEqual(['a', 'b', 'g']);
  const json = bytesOf(String.raw`{"\u0065mail":"a","email\u0000":"b","Email":"c","email":"d"}`);
  expect(await fieldTexts('json', '', json, 'email')).toEqual(['a', 'd']);
});
