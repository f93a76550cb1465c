/**
 * When a token is fetched, renewed, given up: with a clock the test moves.
 */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CaptchaError } from '../../../src/widget/token/captcha-error.ts';
import { TokenKeeper } from '../../../src/widget/element/token-keeper.ts';

const LIFETIME_MS = 100_000;

interface Log {
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
    async request(_signal, quiet) {
      log.requests.push(quiet);
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
  test('is fetched once for many who ask at the same time, and kept', async () => {
    const kept = keeper();
    const answers = await Promise.all([kept.obtain(), kept.obtain(), kept.obtain()]);
    expect(answers).toEqual(['token-1', 'token-1', 'token-1']);
    expect(await kept.obtain()).toBe('token-1');
    expect(log.requests).toEqual([false]);
  });

  test('is renewed quietly when four fifths of its life are over', async () => {
    const kept = keeper();
    await kept.obtain();
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 0.79);
    expect(log.requests).toEqual([false]);
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 0.02);
    expect(log.requests).toEqual([false, true]);
    expect(kept.token).toBe('token-2');
    expect(log.expired).toBe(0);
  });

  test('is renewed ten times without a sign of the visitor, then runs out', async () => {
    const kept = keeper();
    await kept.obtain();
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 20);
    expect(log.requests).toHaveLength(11);
    expect(log.expired).toBe(1);
    expect(kept.token).toBeNull();
  });

  test('is not renewed on a page nobody looks at', async () => {
    const kept = keeper();
    await kept.obtain();
    page.hidden = true;
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 1.1);
    expect(log.requests).toEqual([false]);
    expect(log.expired).toBe(1);
  });

  test('that cannot be renewed stands until its own end, without an error shown', async () => {
    const kept = keeper();
    await kept.obtain();
    fails = 'later';
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 0.9);
    expect(kept.token).toBe('token-1');
    await vi.advanceTimersByTimeAsync(LIFETIME_MS * 0.2);
    expect(kept.token).toBeNull();
    expect(log).toMatchObject({ expired: 1, errors: [] });
  });

  test('that was used is replaced, the old one standing until the new one is there', async () => {
    const kept = keeper();
    await kept.obtain();
    kept.renew();
    expect(kept.token).toBe('token-1');
    await vi.advanceTimersByTimeAsync(0);
    expect(kept.token).toBe('token-2');
  });
});

describe('a failure', () => {
  test('is told to everyone who waits, shown once, and the next call tries again', async () => {
    const kept = keeper();
    fails = 'no';
    const answers = await Promise.allSettled([kept.obtain(), kept.obtain()]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(log.errors).toEqual(['no']);
    fails = null;
    expect(await kept.obtain()).toBe('token-2');
  });

  test('of a run that was reset meanwhile is nobody’s business any more', async () => {
    const kept = keeper();
    const asked = kept.obtain();
    kept.reset();
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
    expect(log).toMatchObject({ tokens: [], errors: [] });
  });
});
