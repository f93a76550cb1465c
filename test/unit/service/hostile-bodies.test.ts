/**
 * What anyone can send to the public endpoints, counted: what no backend and no widget sends is refused before it is
 * parsed. A time would depend on the machine.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { TOKEN_MAX_CHARS } from '../../../src/contract/captcha/challenge-constants.ts';
import { challengeRequest, solutionRequest } from '../../../src/contract/captcha/challenge-api.ts';
import { siteverifyRequest } from '../../../src/contract/captcha/siteverify.ts';
import { CHALLENGE_LIMITS } from '../../../src/service/captcha/challenge/create-challenge.ts';
import { VERIFY_LIMITS } from '../../../src/service/captcha/siteverify/siteverify.ts';
import { SOLUTION_LIMITS } from '../../../src/service/captcha/solution/submit-solution.ts';
import { formObject } from '../../../src/service/http/body/form-object.ts';
import { readBodyAs } from '../../../src/service/http/body/read-body.ts';
import { expectRows } from '../../support/rows.ts';

const KIB = 1024;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const MULTIPART = 'multipart/form-data; boundary=XX';
const PART = '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n';

const posted = (type: string, body: string) =>
  new Request('https://service.test/', { method: 'POST', headers: { 'content-type': type }, body });

const read = (type: string, body: string) => readBodyAs(siteverifyRequest, posted(type, body), VERIFY_LIMITS);

/** Everything that makes a text of bytes, or data of a text of the body. */
function countParsing(body: string) {
  vi.restoreAllMocks();
  const decode = vi.spyOn(TextDecoder.prototype, 'decode');
  const parse = vi.spyOn(JSON, 'parse');
  const parsed = () => parse.mock.calls.filter(([text]) => body.includes(text)).length;
  return () => ({ decoded: decode.mock.calls.length, parsed: parsed() });
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a body for /siteverify', () => {
  test.each([
    [JSON_TYPE, ' '.repeat(KIB * KIB)],
    [FORM, '%41'.repeat(341 * KIB)],
    [MULTIPART, PART.repeat(20 * KIB)],
  ])('of 1 MiB of %s is refused before it is parsed', async (type, body) => {
    const counts = countParsing(body);
    expect(await read(type, body)).toMatchObject({ error: { kind: 'body-too-large' } });
    expect(counts()).toEqual({ decoded: 0, parsed: 0 });
  });

  test('with many fields is refused before they are parsed', () =>
    expectRows(
      [
        [JSON_TYPE, `[${'[],'.repeat(50 * KIB)}[]]`, 1],
        [JSON_TYPE, `{${'"":0,'.repeat(50 * KIB)}"":0}`, 1],
        [FORM, 'a=&'.repeat(50 * KIB), 0],
        [MULTIPART, `${PART.repeat(4 * KIB)}--XX--`, 100],
      ],
      async ([type, body, decoded]) => {
        const counts = countParsing(body);
        expect(await read(type, body)).toMatchObject({ error: { kind: 'too-many-fields' } });
        expect(counts()).toEqual({ decoded, parsed: 0 });
      },
      ([name]) => name,
    ));

  test.each([
    ['many values', `{"ipCategories":[${'1,'.repeat(50 * KIB)}1]}`],
    ['many levels', '['.repeat(50 * KIB)],
  ])('with JSON of %s in a field of a form is refused before that is parsed', async (_, json) => {
    const counts = countParsing(json);
    expect(await read(FORM, `secret=a&token=b&visitor=${json}`)).toMatchObject({
      error: { kind: 'body-mismatch', details: [{ path: 'visitor' }] },
    });
    expect(counts().parsed).toBe(0);
  });

  test.each([
    [JSON_TYPE, (fields: object) => JSON.stringify(fields)],
    [FORM, (fields: object) => new URLSearchParams(Object.entries(fields)).toString()],
  ])('of %s may have the longest token', async (type, written) => {
    const fields = { secret: 's'.repeat(256), token: 't'.repeat(TOKEN_MAX_CHARS), userAccount: 'u'.repeat(128) };
    expect(await read(type, written(fields))).toEqual({ ok: true, value: fields });
  });

  test('may have the longest visitor that an edge describes', async () => {
    const visitor = {
      ip: '2001:db8::1',
      userAgent: '"'.repeat(16_384),
      asn: 64_500,
      country: 'NZ',
      ja4: 'j'.repeat(64),
      ipCategories: Array.from({ length: 16 }, () => 'c'.repeat(16)),
      requestId: 'r'.repeat(32),
      host: 'h'.repeat(255),
    };
    const fields = { secret: 'a', token: 't'.repeat(TOKEN_MAX_CHARS), audience: 'edge', visitor };
    expect(await read(JSON_TYPE, JSON.stringify(fields))).toEqual({ ok: true, value: fields });
    const form = new URLSearchParams({ secret: 'a', token: 'b', audience: 'edge', visitor: JSON.stringify(visitor) });
    expect(await read(FORM, form.toString())).toMatchObject({ ok: true, value: { visitor } });
  });
});

const manyValues = `{"ipCategories":[${'1,'.repeat(10 * KIB)}1]}`;

test.each([
  ['challenge', 'siteKey=a', (request: Request) => readBodyAs(challengeRequest, request, CHALLENGE_LIMITS)],
  ['solution', 'challenge=a&solution={}', (request: Request) => readBodyAs(solutionRequest, request, SOLUTION_LIMITS)],
])('a %s with JSON of many values in a field is refused before that is parsed', async (_, fields, readRequest) => {
  const counts = countParsing(manyValues);
  expect(await readRequest(posted(FORM, `${fields}&visitor=${manyValues}`))).toMatchObject({
    error: { kind: 'body-mismatch' },
  });
  expect(counts().parsed).toBe(0);
});

test('a solution may have the longest path of a pointer', async () => {
  const solution = { finalX: 1, finalY: 2, path: Array.from({ length: 1000 }, (_, at) => [at, 100, 16 * at]) };
  const fields = { challenge: 'a', solution };
  expect(await readBodyAs(solutionRequest, posted(JSON_TYPE, JSON.stringify(fields)), SOLUTION_LIMITS)).toEqual({
    ok: true,
    value: fields,
  });
});

test('a name of a form that is longer than any field’s is not taken apart', () => {
  const name = `a${'[b]'.repeat(5000)}`;
  expect(formObject([[name, 'x']])).toEqual({ ok: true, value: { [name]: 'x' } });
});
