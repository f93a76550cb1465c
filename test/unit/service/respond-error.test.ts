/** Errors of the service as responses. The compiler checks that every kind is mapped; this checks what callers see. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { errorResponse, statusOf, unexpectedErrorResponse } from '../../../src/service/http/respond-error.ts';
import type { ServiceError } from '../../../src/service/http/service-error.ts';
import { expectRows } from '../../support/rows.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('an expected error', () => {
  test('has its status and key', () =>
    expectRows<[ServiceError, number, string]>(
      [
        [{ kind: 'body-too-large', maxBytes: 10 }, 413, 'API.BODY_TOO_LARGE'],
        [{ kind: 'too-many-fields', maxFields: 10 }, 413, 'API.TOO_MANY_ITEMS'],
        [{ kind: 'content-type-unknown' }, 415, 'API.UNSUPPORTED_CONTENT_TYPE'],
        [{ kind: 'authorization-missing' }, 401, 'API.MISSING_AUTHORIZATION_HEADER'],
        [{ kind: 'client-jwt-expired' }, 401, 'API.KEY_EXPIRED'],
        [
          { kind: 'permission-missing', who: 'Your role', permissions: ['getUsers'] },
          403,
          'API.INSUFFICIENT_PERMISSIONS',
        ],
        [{ kind: 'site-secret-invalid' }, 401, 'GENERAL.INVALID_SECRET_KEY'],
        [{ kind: 'operation', key: 'API.CONFLICT', message: 'is taken' }, 409, 'API.CONFLICT'],
      ],
      async ([error, status, key]) => {
        const response = errorResponse(error);
        expect(response.status).toBe(status);
        expect(response.headers.get('cache-control')).toBe('no-store');
        expect(await response.json()).toMatchObject({ error: { code: status, key, message: expect.any(String) } });
      },
    ));

  test('names each rejected field', async () => {
    const details = [{ path: 'name', message: 'is taken' }];
    const body = await errorResponse({ kind: 'body-mismatch', details }).json();
    expect(body).toMatchObject({ error: { key: 'API.INVALID_BODY', details } });
  });

  test.each<[ServiceError, string, string]>([
    [{ kind: 'rate-limited', what: 'Too many calls', retryAfterSeconds: 7 }, 'retry-after', '7'],
    [{ kind: 'not-configured' }, 'retry-after', '60'],
    [{ kind: 'method-not-allowed', allowed: ['GET', 'HEAD'] }, 'allow', 'GET, HEAD'],
  ])('%o has the header %s: %s', (error, name, value) => {
    expect(errorResponse(error).headers.get(name)).toBe(value);
  });

  test('of a missing Protect instance is 404 with a plain text as error', async () => {
    const response = errorResponse({ kind: 'no-active-instance' });
    expect([response.status, await response.json()]).toEqual([404, { error: 'No active protect instance found' }]);
  });

  test('has the status that its response has', () => {
    expect(statusOf({ kind: 'script-needed' })).toBe(errorResponse({ kind: 'script-needed' }).status);
  });
});

test('an unexpected error is 500 without its cause, which is in the log with the request id', async () => {
  const logged = vi.spyOn(console, 'error').mockReturnValue();
  const response = unexpectedErrorResponse(new Error('the secret cause'), 'request-1');
  expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining('cause')]);
  expect(JSON.parse(String(logged.mock.calls[0]?.[0]))).toMatchObject({
    event: 'unhandled-error',
    requestId: 'request-1',
    message: 'the secret cause',
  });
});
