/** The slow test secret with a test clock: a backend that tests its own timeout needs a slow response. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { testSecretResponse } from '../../../src/service/captcha/siteverify/test-secret-response.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('the slow test secret verifies after three seconds, and not before', async () => {
  let isSettled = false;
  const answer = testSecretResponse('slow').finally(() => (isSettled = true));
  await vi.advanceTimersByTimeAsync(2999);
  expect(isSettled).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(await answer).toEqual({ verified: true, level: 2, hostname: 'localhost', test: true });
});
