/** Any input gets the error envelope, with a request id and never a stack trace. */
import { describe, expect, test, vi } from 'vitest';
import { expectRows } from '../../support/rows.ts';
import { call, newAccount, send, serviceEnv } from './service-under-test.ts';

const path = '/protect/instances';

async function refused(init: RequestInit, to = path) {
  const response = await send(to, init);
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(response.headers.get('content-type')).toContain('application/json');
  const text = await response.text();
  expect(text).not.toMatch(/\bat .+:\d+/);
  const { error } = JSON.parse(text) as { error: { code: number; key: string; message: string; details?: any[] } };
  expect(error.code).toBe(response.status);
  return { status: response.status, ...error };
}

async function authorised(init: RequestInit) {
  const { token } = await newAccount();
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${token}`);
  return refused({ method: 'POST', ...init, headers }, '/protect/instances/create');
}

const json = { 'content-type': 'application/json' };

/** Well-formed JSON in which only the depth is wrong. */
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('the bearer', () => {
  test('is 401 unless it is one JWT that this service signed', () =>
    expectRows(
      [
        ['missing', {}, 'API.MISSING_AUTHORIZATION_HEADER'],
        ['empty', { authorization: '' }, 'API.MISSING_AUTHORIZATION_HEADER'],
        ['of another scheme', { authorization: 'Basic YTpi' }, 'API.UNAUTHORIZED'],
        ['without a token', { authorization: 'Bearer' }, 'API.UNAUTHORIZED'],
        ['with two tokens', { authorization: 'Bearer a b' }, 'API.UNAUTHORIZED'],
        ['no JWT', { authorization: 'Bearer abc' }, 'API.UNAUTHORIZED'],
        ['an unsigned JWT', { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }, 'API.UNAUTHORIZED'],
        ['huge', { authorization: `Bearer ${'a'.repeat(10_000)}` }, 'API.UNAUTHORIZED'],
      ],
      async ([, headers, key]) => {
        expect(await refused({ method: 'POST', headers })).toMatchObject({ status: 401, key });
      },
    ));

  test('a client JWT is not an API key', async () => {
    const { token, site } = await newAccount();
    const instance = await call(token, '/protect/instances/create', {
      name: 'A',
      cname: 'bearer.example.net',
      globalSiteKey: site.siteKey,
    });
    const { body } = await call(token, '/protect/client-jwt/generate', {
      protectInstanceId: instance.body.id,
      expiresInWeeks: 1,
    });
    expect(await refused({ method: 'POST', headers: { authorization: `Bearer ${body.clientJwt}` } })).toMatchObject({
      status: 401,
      key: 'API.UNAUTHORIZED',
    });
  });
});

describe('the body', () => {
  test('that cannot be read is refused with its fault', () =>
    expectRows<[string, RequestInit, number, string]>(
      [
        ['missing', {}, 400, 'API.MISSING_BODY'],
        ['unparsable', { headers: json, body: '{"name":' }, 400, 'API.PARSE_ERROR'],
        ['not UTF-8', { headers: json, body: new Uint8Array([0x22, 0xff, 0x22]) }, 400, 'API.PARSE_ERROR'],
        ['nested too deep', { headers: json, body: nested(100_000) }, 400, 'API.PARSE_ERROR'],
        ['nested one level too deep', { headers: json, body: nested(81) }, 400, 'API.PARSE_ERROR'],
        ['nested as deep as may be', { headers: json, body: nested(80) }, 400, 'API.INVALID_BODY'],
        ['a JSON array', { headers: json, body: '[]' }, 400, 'API.INVALID_BODY'],
        ['JSON null', { headers: json, body: 'null' }, 400, 'API.INVALID_BODY'],
        ['without a content type', { body: new Uint8Array([0x7b, 0x7d]) }, 400, 'API.NO_CONTENT_TYPE_HEADER'],
        ['plain text', { headers: { 'content-type': 'text/plain' }, body: '{}' }, 415, 'API.UNSUPPORTED_CONTENT_TYPE'],
        [
          'in another charset',
          { headers: { 'content-type': 'application/json; charset=utf-16' }, body: '{}' },
          415,
          'API.UNSUPPORTED_CONTENT_TYPE',
        ],
        [
          'compressed',
          { headers: { ...json, 'content-encoding': 'gzip' }, body: '{}' },
          415,
          'API.UNSUPPORTED_CONTENT_TYPE',
        ],
        [
          'malformed multipart',
          { headers: { 'content-type': 'multipart/form-data; boundary=x' }, body: 'abc' },
          400,
          'API.PARSE_ERROR',
        ],
        ['too large', { headers: json, body: `"${'a'.repeat(1024 * 1024)}"` }, 413, 'API.BODY_TOO_LARGE'],
      ],
      async ([, init, status, key]) => {
        expect(await authorised(init)).toMatchObject({ status, key });
      },
      ([name]) => name,
    ));

  test('a body larger than its stated length is cut off while it is read', async () => {
    const chunk = new TextEncoder().encode('a'.repeat(64 * 1024));
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        if (sent > 1000) controller.close();
        else controller.enqueue(chunk);
      },
    });
    expect(await authorised({ headers: json, body })).toMatchObject({ status: 413, key: 'API.BODY_TOO_LARGE' });
    expect(sent).toBeLessThan(40);
  });

  test('an unknown field is refused by name', async () => {
    const { details, key } = await authorised({
      headers: json,
      body: JSON.stringify({ name: 'a', cname: 'a.example', globalSiteKey: 'k', nmae: 'b' }),
    });
    expect([key, details]).toEqual(['API.INVALID_BODY', [{ path: 'nmae', message: 'is not a known field' }]]);
  });

  test('a prototype name is refused, however it is written', () =>
    expectRows(
      [
        '{"__proto__":{"name":"a"}}',
        '{"\\u005f_proto__":{"name":"a"}}',
        '{"__pro\\u0074o__":{"name":"a"}}',
        '{"a":[{"__proto__":1}]}',
      ],
      async (body) => {
        // This check comes before any schema, because a schema with an open part would accept the name.
        expect(await authorised({ headers: json, body })).toMatchObject({
          status: 400,
          key: 'API.INVALID_BODY',
          details: [{ message: 'is a reserved name' }],
        });
      },
    ));

  test.each(['{"name":"a\\ud800"}', '{"settings":{"domains":["\\udfff.com"]}}'])(
    'half a surrogate pair is refused: %s',
    async (body) => {
      expect(await authorised({ headers: json, body })).toMatchObject({
        status: 400,
        key: 'API.INVALID_BODY',
        details: [{ message: 'has a surrogate without its other half' }],
      });
    },
  );

  test('an ambiguous or hostile form is refused', () =>
    expectRows(
      ['name=a&name=b', 'name=a&name[x]=b', 'name[x]=a&name=b', '__proto__[x]=1', 'a[__proto__][x]=1'],
      async (body) => {
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        expect(await authorised({ headers, body })).toMatchObject({ status: 400, key: 'API.INVALID_BODY' });
      },
    ));
});

describe('paths and methods', () => {
  test('an unknown path is 404', async () => {
    expect(await refused({ method: 'POST' }, '/nothing/here')).toMatchObject({ status: 404, key: 'API.NOT_FOUND' });
  });

  test('a known path with another method is 405 and names the method', async () => {
    const response = await send(path, { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await refused({ method: 'PUT' })).toMatchObject({ status: 405, key: 'API.METHOD_NOT_ALLOWED' });
  });
});

test('an unforeseen failure is 500 with the envelope, and its cause is in the log alone', async () => {
  const { token } = await newAccount();
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const DB = new Proxy(serviceEnv.DB, {
    get(target, name) {
      if (name === 'prepare') {
        return (sql: string) => {
          if (sql.includes('FROM sites')) throw new Error('the disk is on fire');
          return target.prepare(sql);
        };
      }
      return Reflect.get(target, name);
    },
  });
  const response = await send('/sites/get', { method: 'POST', headers }, { ...serviceEnv, DB });
  const text = await response.text();
  expect([response.status, JSON.parse(text).error]).toEqual([
    500,
    { code: 500, key: 'API.UNKNOWN', message: 'Something went wrong on our side' },
  ]);
  expect(text).not.toContain('fire');
  const line = String(logged.mock.calls[0]?.[0]);
  expect(line).toContain('the disk is on fire');
  expect(line).toContain(response.headers.get('x-request-id'));
  logged.mockRestore();
});

describe('body formats', () => {
  test('urlencoded and multipart bodies mean the same as JSON', async () => {
    const urlencoded = await newAccount();
    const fields: [string, string][] = [
      ['name', '123'],
      ['challengeThreshold', '0.4'],
      ['monitor', 'true'],
      ['ipCategoryRules[tor]', 'block'],
      ['endpointRules', '[{"pattern":"/api/*","pathType":"json"}]'],
      ['pathRules[0][pattern]', '/hook'],
      ['pathRules[0][action]', 'allow'],
      ['pathRules[0][waiveSession]', 'true'],
      ['hosts[]', 'a.example'],
      ['hosts[]', 'b.example'],
      ['accountId', 'ignored'],
      ['token', 'ignored'],
    ];
    const expected = {
      name: '123',
      challengeThreshold: 0.4,
      monitor: true,
      ipCategoryRules: { tor: 'block' },
      endpointRules: [{ pattern: '/api/*', pathType: 'json' }],
      pathRules: [{ pattern: '/hook', action: 'allow', waiveSession: true }],
      hosts: ['a.example', 'b.example'],
    };
    const form = new URLSearchParams([
      ...fields,
      ['cname', 'f1.example.net'],
      ['globalSiteKey', urlencoded.site.siteKey],
    ]);
    const first = await send('/protect/instances/create', {
      method: 'POST',
      headers: { authorization: `Bearer ${urlencoded.token}` },
      body: form,
    });
    expect(await first.json()).toMatchObject(expected);

    const multipart = await newAccount();
    const data = new FormData();
    for (const [name, value] of fields) data.append(name, value);
    data.append('cname', 'f2.example.net');
    data.append('globalSiteKey', multipart.site.siteKey);
    const second = await send('/protect/instances/create', {
      method: 'POST',
      headers: { authorization: `Bearer ${multipart.token}` },
      body: data,
    });
    expect(await second.json()).toMatchObject(expected);
  });

  test('an empty body is accepted where no field is required', async () => {
    const { token } = await newAccount();
    expect((await call(token, '/protect/instances')).body).toEqual([]);
    expect((await call(token, '/protect/instances', {})).body).toEqual([]);
  });
});
