/** The token is found in a request's copy, whatever the body is, and the handler gets the body as it was sent. */
import { describe, expect, test } from 'vitest';
import { withSignature, withToken } from '../../../packages/server/src/next.ts';
import type { VerifyResult } from '../../../packages/server/src/index.ts';
import { expectRows } from '../../support/rows.ts';

const asked: unknown[] = [];
/** Verifies the token `good` alone. */
const verifier = {
  async verify(field: unknown): Promise<VerifyResult> {
    asked.push(field);
    const text = JSON.stringify(field) ?? '';
    return text.includes('good')
      ? {
          outcome: 'verified',
          pass: true,
          action: null,
          hostname: null,
          level: 1,
          score: null,
          flagged: null,
          challengedAtMs: null,
          notEvaluated: [],
          test: false,
        }
      : { outcome: 'missing', pass: false, why: 'absent' };
  },
};
const guarded = (options: object = {}) =>
  withToken({ verifier, ...options }, async (request: Request, _context: object, result) =>
    Response.json({ body: await request.text(), outcome: result.outcome }),
  );
const post = (body: BodyInit | null, headers: Record<string, string> = {}, options: object = {}) =>
  guarded(options)(
    new Request('http://shop.test/login', {
      method: 'POST',
      body,
      headers,
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    }),
    {},
  );

const JSON_TYPE = { 'content-type': 'application/json' };
const multipart = (parts: [string, string | Blob][]): FormData => {
  const form = new FormData();
  for (const [name, value] of parts) form.append(name, value);
  return form;
};

describe('a token is found', () => {
  test('in every place where a page puts it', () =>
    expectRows<[string, BodyInit | null, Record<string, string>]>(
      [
        ['a form', new URLSearchParams({ 'captcha-response': '{"token":"good"}' }), {}],
        [
          'a form with two widgets',
          new URLSearchParams([
            ['captcha-response', ''],
            ['captcha-response', 'good'],
          ]),
          {},
        ],
        ['a multipart form', multipart([['captcha-response', 'good']]), {}],
        ['JSON', '{"captcha-response":{"token":"good"}}', JSON_TYPE],
        [
          'JSON of another name',
          '{"captcha-response":"good"}',
          { 'content-type': 'application/vnd.api+json; charset=utf-8' },
        ],
        ['a header', null, { 'x-captcha-response': 'good' }],
        ['a header beside a body that it is not in', 'anything', { 'x-captcha-response': 'good' }],
      ],
      async ([, body, headers]) => {
        expect((await post(body, headers)).status).toBe(200);
      },
    ));
});

describe('a request without one is refused', () => {
  test('whatever else it has', () =>
    expectRows<[string, BodyInit | null, Record<string, string>]>(
      [
        ['with no body', null, {}],
        ['with a body of another type', 'captcha-response=good', { 'content-type': 'text/plain' }],
        [
          'with a type that only begins like a form’s',
          'captcha-response=good',
          { 'content-type': 'application/x-www-form-urlencoded-not' },
        ],
        ['with JSON that breaks off', '{"captcha-response":"good"', JSON_TYPE],
        ['with JSON that is a list', '["good"]', JSON_TYPE],
        ['with a token that only a prototype has', '{"__proto__":{"captcha-response":"good"}}', JSON_TYPE],
        ['with multipart and no boundary', 'captcha-response=good', { 'content-type': 'multipart/form-data' }],
        ['with a file in the place of the token', multipart([['captcha-response', new Blob(['good'])]]), {}],
        ['with an empty form', new URLSearchParams(), {}],
      ],
      async ([, body, headers]) => {
        const response = await post(body, headers);
        expect([response.status, response.headers.get('cache-control')]).toEqual([403, 'no-store']);
        expect(await response.json()).toEqual({
          error: { code: 403, key: 'API.USER_NOT_VERIFIED', message: expect.any(String) },
        });
      },
    ));

  test('with a body above the limit, of which no more is read', async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(16 * 1024));
      },
    });
    const response = await post(
      endless,
      { 'content-type': 'application/x-www-form-urlencoded' },
      { maxBodyBytes: 64 * 1024 },
    );
    expect(response.status).toBe(413);
    expect(pulled).toBeLessThan(10);
  });

  test('with a body that breaks off', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) });
    expect((await post(broken, JSON_TYPE)).status).toBe(403);
  });

  test('whose body something else has read', async () => {
    const request = new Request('http://shop.test/', {
      method: 'POST',
      body: new URLSearchParams({ 'captcha-response': 'good' }),
    });
    await request.text();
    expect((await guarded()(request, {})).status).toBe(403);
  });
});

test('the handler reads the body to the byte', async () => {
  const body = 'name=Ada+%2B&captcha-response=good&name=%zz';
  const response = await post(body, { 'content-type': 'application/x-www-form-urlencoded' });
  expect(await response.json()).toEqual({ body, outcome: 'verified' });
});

test('field and header have other names where the options say so', async () => {
  const options = { field: 'cf-turnstile-response', header: 'X-Token' };
  expect((await post(new URLSearchParams({ 'cf-turnstile-response': 'good' }), {}, options)).status).toBe(200);
  expect((await post(null, { 'x-token': 'good' }, options)).status).toBe(200);
  expect((await post(new URLSearchParams({ 'captcha-response': 'good' }), {}, options)).status).toBe(403);
});

test('onRefused responds in place of the error, and sees why', async () => {
  const seen: string[] = [];
  const onRefused = (result: VerifyResult): Response => {
    seen.push(result.outcome);
    return new Response('Please try again', { status: 422 });
  };
  expect((await post(null, {}, { onRefused })).status).toBe(422);
  expect(seen).toEqual(['missing']);
});

test('a request without the gate’s signature does not reach the handler', async () => {
  const handler = withSignature({ keys: {} }, () => new Response('inside'));
  const response = await handler(new Request('http://shop.test/'), {});
  expect([response.status, await response.json()]).toEqual([
    403,
    { error: expect.objectContaining({ key: 'API.FORBIDDEN' }) },
  ]);
});
