/** Reading a challenged submission, and the body that the origin gets. */
import { describe, expect, test } from 'vitest';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import {
  bodyForOrigin,
  readSubmission,
  type Submission,
  SUBMISSION_MAX_BYTES,
} from '../../../src/edge/submission/read-submission.ts';
import { expectRows } from '../../support/rows.ts';

const FORM = 'application/x-www-form-urlencoded';
const roomy = { take: () => true, lend: () => undefined, keep: () => undefined };
const MULTIPART = 'multipart/form-data; boundary="a b"';
const settingsOf = (changes: object = {}) => instancePolicy.parse({ submission: changes }).submission;

async function read(contentType: string, body: BodyInit, settings = settingsOf()): Promise<Submission> {
  const request = new Request('https://site.test/', { method: 'POST', body, headers: { 'content-type': contentType } });
  const reading = await readSubmission(request, settings, roomy);
  if (!reading?.ok) throw new Error(reading?.error.kind);
  return reading.value;
}
const part = (name: string, value: string) =>
  `--a b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

describe('the token', () => {
  test('is read in every form that a page sends it in', () =>
    expectRows(
      [
        ['urlencoded', FORM, 'a=1&captcha-response=tok&b=2'],
        ['urlencoded, encoded name', FORM, 'captcha%2Dresponse=tok'],
        ['as the widget writes it', FORM, `captcha-response=${encodeURIComponent('{"token":"tok"}')}`],
        ['the first that is not empty', FORM, 'captcha-response=&captcha-response=tok&captcha-response=other'],
        ['beside invalid UTF-8', FORM, 'x=%ff%fe&captcha-response=tok'],
        ['multipart', MULTIPART, `${part('x', '1')}${part('captcha-response', 'tok')}--a b--\r\n`],
        ['JSON', 'application/json; charset=utf-8', '{"captcha-response":"tok"}'],
        ['JSON object', 'application/vnd.api+json', '{"captcha-response":{"token":"tok"}}'],
      ],
      async ([, type, body]) => {
        expect((await read(type, body)).token).toBe('tok');
      },
    ));

  test('is found under a configured path and a configured name', async () => {
    const nested = settingsOf({ jsonPath: 'data.form.proof' });
    expect((await read('application/json', '{"data":{"form":{"proof":"tok"}}}', nested)).token).toBe('tok');
    expect((await read('application/json', '{"captcha-response":"tok"}', nested)).token).toBeNull();
    expect((await read(FORM, 'proof=tok', settingsOf({ tokenField: 'proof' }))).token).toBe('tok');
  });

  test('is missing in any other body, without an exception', () =>
    expectRows(
      [
        ['broken JSON', 'application/json', '{"captcha-response":'],
        ['JSON of another shape', 'application/json', '[1,2]'],
        ['inherited members', 'application/json', '{}'],
        ['a number', 'application/json', '{"captcha-response":7}'],
        ['broken multipart', MULTIPART, 'nothing of the kind'],
        ['text', 'text/plain', 'captcha-response=tok'],
        ['no type', '', 'captcha-response=tok'],
        ['a token that is too long', FORM, `captcha-response=${'x'.repeat(140_000)}`],
      ],
      async ([, type, body]) => {
        expect((await read(type, body)).token).toBeNull();
      },
    ));
});

describe('the body', () => {
  test('is passed on byte for byte', async () => {
    const bytes = new Uint8Array([97, 61, 0xff, 0x00, 0xfe]);
    expect(bodyForOrigin(await read(FORM, bytes), settingsOf())).toEqual(bytes);
  });

  test('above the limit is not held', async () => {
    const body = new Uint8Array(SUBMISSION_MAX_BYTES + 1);
    const request = new Request('https://site.test/', { method: 'POST', body });
    expect(await readSubmission(request, settingsOf(), roomy)).toEqual({ ok: false, error: { kind: 'too-large' } });
  });

  test('of a request without one is nothing to read', async () => {
    expect(await readSubmission(new Request('https://site.test/', { method: 'POST' }), settingsOf(), roomy)).toBeNull();
    expect(await readSubmission(new Request('https://site.test/'), settingsOf(), roomy)).toBeNull();
  });
});

describe('a body without its token', () => {
  const strip = settingsOf({ forwardToken: false });
  const stripped = async (type: string, body: string, settings = strip) =>
    Buffer.from(bodyForOrigin(await read(type, Buffer.from(body, 'latin1'), settings), settings)).toString('latin1');

  test('keeps every other byte of an urlencoded form', async () => {
    expect(await stripped(FORM, 'a=%F6+b&captcha-response=tok&c&captcha%2dresponse=x&d=\xff')).toBe('a=%F6+b&c&d=\xff');
  });

  test('keeps every other part of a multipart form', async () => {
    const rest = part('file', '\xff\x00--a bb');
    expect(await stripped(MULTIPART, `${rest}${part('captcha-response', 'tok')}${part('z', '1')}--a b--\r\n`)).toBe(
      `${rest}${part('z', '1')}--a b--\r\n`,
    );
  });

  test('loses the field in JSON, nested or not', async () => {
    expect(await stripped('application/json', '{"a":1,"captcha-response":"tok"}')).toBe('{"a":1}');
    const nested = settingsOf({ forwardToken: false, jsonPath: 'x.y' });
    expect(await stripped('application/json', '{"x":{"y":"tok","z":2}}', nested)).toBe('{"x":{"z":2}}');
  });
});
