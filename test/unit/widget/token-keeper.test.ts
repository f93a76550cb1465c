/** When a token is obtained, renewed and dropped, with a test clock. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CaptchaError } from '../../../src/widget/token/captcha-error.ts';
import { TokenKeeper } from '../../../src/widget/element/token-keeper.ts';

const LIFETIME_MS = 100_000;

interface Log {
  /** Whether the visitor had asked when each run ended. */
  requests: boolean[];
  tokens: string[];
  expired: number;
  errors: string[];
}

const page = { hidden: false };
let log: Log;
let fails: string | null;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', page);
  page.hidden = false;
  log = { requests: [], tokens: [], expired: 0, errors: [] };
  fails = null;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function keeper(): TokenKeeper {
  return new TokenKeeper({
    renews: () => true,
    async request(_signal, isAsked) {
      await Promise.resolve();
      log.requests.push(isAsked());
      if (fails !== null) throw new CaptchaError('refused', fails);
      return { token: `token-${log.requests.length}`, lifetimeMs: LIFETIME_MS };
    },
    onWorking: () => undefined,
    onToken: (token) => log.tokens.push(token),
    onExpired: () => (log.expired += 1),
    onError: ({ detail }) => log.errors.push(detail),
  });
}

describe('a token', () => {
  test('is obtained once for concurrent calls, and kept', async () => {
    const kept = keeper();
    const answers = await Promise.all([kept.obtain(true), kept.obtain(true), kept.obtain(true)]);
    expect(answers).toEqual(['token-1', 'token-1', 'token-1']);
    expect(await kept.obtain(true)).toBe('token-1');
    expect(log.requests).toEqual([true]);
  });

  test('is renewed quietly after four fifths of its lifetime', async () => {
    const kept = keeper();
    await kept.obtain(true);
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 0.79);
    expect(log.requests).toEqual([true]);
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 0.02);
    expect(log.requests).toEqual([true, false]);
    expect(kept.token).toBe('token-2');
    expect(log.expired).toBe(0);
  });

  test('is renewed ten times without input from the visitor, then expires', async () => {
    const kept = keeper();
    await kept.obtain(true);
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 20);
    expect(log.requests).toHaveLength(11);
    expect(log.expired).toBe(1);
    expect(kept.token).toBeNull();
  });

  test('is not renewed on a hidden page', async () => {
    const kept = keeper();
    await kept.obtain(true);
    page.hidden = true;
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 1.1);
    expect(log.requests).toEqual([true]);
    expect(log.expired).toBe(1);
  });

  test('that cannot be renewed stays until it expires, without an error', async () => {
    const kept = keeper();
    await kept.obtain(true);
    fails = 'later';
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 0.9);
    expect(kept.token).toBe('token-1');
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 0.2);
    expect(kept.token).toBeNull();
    expect(log).toMatchObject({ expired: 1, errors: [] });
  });

  test('that was used stays until its replacement arrives', async () => {
    const kept = keeper();
    await kept.obtain(true);
    kept.renew();
    expect(kept.token).toBe('token-1');
    await vi.advanceTimersByTimeAsync(0);
    expect(kept.token).toBe('token-2');
  });
});

describe('a run that nobody asked for', () => {
  test('is asked for from the moment the visitor asks', async () => {
    const kept = keeper();
    const runs = [kept.obtain(false), kept.obtain(true)];
    expect(await Promise.all(runs)).toEqual(['token-1', 'token-1']);
    expect(log.requests).toEqual([true]);
    kept.reset();
    await kept.obtain(false);
    expect(log.requests).toEqual([true, false]);
  });

  test('reports its failure only to a visitor who waits for it, if it renews a token', async () => {
    const kept = keeper();
    await kept.obtain(true);
    fails = 'no';
    kept.renew();
    await vi.advanceTimersByTimeAsync(0);
    expect(log.errors).toEqual([]);
    await kept.obtain(false).catch(() => undefined);
    expect(log.errors).toEqual(['no']);
  });
});

describe('a failure', () => {
  test('rejects every waiting call, is reported once, and the next call retries', async () => {
    const kept = keeper();
    fails = 'no';
    const answers = await Promise.allSettled([kept.obtain(true), kept.obtain(true)]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(log.errors).toEqual(['no']);
    fails = null;
    expect(await kept.obtain(true)).toBe('token-2');
  });

  test('of a run that the visitor ends is reported once, as cancelled', async () => {
    const kept = keeper();
    const asked = kept.obtain(true);
    kept.cancel();
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
    expect(log).toMatchObject({ tokens: [], errors: [''] });
  });

  test('of a run that was reset is not reported', async () => {
    const kept = keeper();
    const asked = kept.obtain(true);
    kept.reset();
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
    expect(log).toMatchObject({ tokens: [], errors: [] });
  });
});
