import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { readBounded } from '../../../src/bytes/read-bounded.ts';

/** A stream of these chunks that ends, or that breaks with an error after them. */
function streamOf(chunks: readonly Uint8Array[], broken = false) {
  const left = [...chunks];
  const cancelled = vi.fn<(reason: unknown) => void>();
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = left.shift();
      if (next !== undefined) controller.enqueue(next);
      else if (broken) controller.error(new Error('connection lost'));
      else controller.close();
    },
    cancel: cancelled,
  });
  return { stream, cancelled };
}

const chunksOf = (...sizes: number[]) => sizes.map((size) => new Uint8Array(size));

describe('a stream within its limits', () => {
  test('comes back whole, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 10 }), async (chunks) => {
        const whole = Buffer.concat(chunks);
        const read = await readBounded(streamOf(chunks).stream, whole.length);
        expect(read).toEqual({ ok: true, value: new Uint8Array(whole) });
      }),
    );
  });

  test('is read without a deadline when the caller sets none', async () => {
    vi.useFakeTimers();
    try {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const reading = readBounded(readable, 10, { timeoutMs: null });
      await vi.advanceTimersByTimeAsync(3_600_000);
      const writer = writable.getWriter();
      await writer.write(new Uint8Array(3));
      await writer.close();
      expect(await reading).toEqual({ ok: true, value: new Uint8Array(3) });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a stream beyond its limits', () => {
  test('is too large with one byte more, and is cancelled', async () => {
    const { stream, cancelled } = streamOf(chunksOf(4, 5, 100));
    expect(await readBounded(stream, 8)).toEqual({ ok: false, error: { kind: 'too-large' } });
    expect(cancelled).toHaveBeenCalledOnce();
  });

  test('finds no room when the caller refuses a chunk, and is cancelled', async () => {
    const { stream, cancelled } = streamOf(chunksOf(4, 5, 100));
    let room = 8;
    const take = (bytes: number) => (room -= bytes) >= 0;
    const lender = { take, lend: () => undefined, keep: () => undefined };
    expect(await readBounded(stream, 1000, { room: lender })).toEqual({ ok: false, error: { kind: 'no-room' } });
    expect(cancelled.mock.calls).toEqual([['no room']]);
  });

  test('finds no room when what it has is needed elsewhere, and is never a shorter body', async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    let forget = () => {};
    const lender = { take: () => true, lend: (given: () => void) => (forget = given), keep: () => undefined };
    const reading = readBounded(readable, 1000, { room: lender });
    const writer = writable.getWriter();
    await writer.write(new Uint8Array(9));
    forget();
    await writer.close();
    expect(await reading).toEqual({ ok: false, error: { kind: 'no-room' } });
  });

  test('is unreadable when it breaks', async () => {
    expect(await readBounded(streamOf(chunksOf(4), true).stream, 8)).toEqual({
      ok: false,
      error: { kind: 'unreadable' },
    });
  });

  test('is unreadable when it stalls, and is not mistaken for a shorter body', async () => {
    vi.useFakeTimers();
    try {
      const cancel = vi.fn();
      const stalling = new ReadableStream<Uint8Array>({
        cancel,
        start(controller) {
          controller.enqueue(new TextEncoder().encode('captcha-response=good&amount=1'));
        },
      });
      const reading = readBounded(stalling, 1024);
      await vi.advanceTimersByTimeAsync(31_000);
      expect(await reading).toEqual({ ok: false, error: { kind: 'unreadable' } });
      expect(cancel.mock.calls).toEqual([['too slow']]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is unreadable when it trickles, and read when it makes progress', async () => {
    vi.useFakeTimers();
    try {
      const outcomeOf = async (...bytes: number[]) => {
        const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
        const reading = readBounded(readable, 1_000_000);
        const writer = writable.getWriter();
        for (const length of bytes) {
          void writer.write(new Uint8Array(length)).catch(() => undefined);
          await vi.advanceTimersByTimeAsync(1000);
        }
        void writer.close().catch(() => undefined);
        return (await reading).ok;
      };
      const tenSeconds = (bytes: number) => [bytes, ...Array<number>(9).fill(0)];
      expect(await outcomeOf(...Array<number>(20).fill(100))).toBe(false);
      expect(await outcomeOf(...Array<number>(20).fill(1000))).toBe(true);
      expect(await outcomeOf(...tenSeconds(4096), ...tenSeconds(4096), 1)).toBe(true);
      expect(await outcomeOf(...tenSeconds(4096), ...tenSeconds(4095), 1)).toBe(false);
      // What came before does not count again.
      expect(await outcomeOf(...tenSeconds(20_000), ...tenSeconds(100), 1)).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });
});
