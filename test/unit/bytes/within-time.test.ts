/** Streams with a deadline: whole or broken, never cut, and without anything that is left behind. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withinTime } from '../../../src/bytes/within-time.ts';

const LIMIT_MS = 1000;
const chunk = Uint8Array.of(1, 2);
const failing = new Error('gone');

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function source(): { stream: ReadableStream<Uint8Array>; control: ReadableStreamDefaultController<Uint8Array> } {
  let control: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      control = controller;
    },
    // A connection that is gone cannot be ended.
    cancel: () => Promise.reject(failing),
  });
  return { stream, control: control! };
}

test('a stream that ends in time is whole', async () => {
  const { stream, control } = source();
  const reader = withinTime(stream, LIMIT_MS).getReader();
  control.enqueue(chunk);
  control.close();
  expect(await reader.read()).toEqual({ done: false, value: chunk });
  expect(await reader.read()).toEqual({ done: true, value: undefined });
  expect(vi.getTimerCount()).toBe(0);
});

test.each(['while it is read', 'between two reads'])('a stream that is too slow breaks %s', async (when) => {
  const { stream, control } = source();
  const reader = withinTime(stream, LIMIT_MS).getReader();
  control.enqueue(chunk);
  await reader.read();
  const early = when === 'while it is read' ? [reader.read()] : [];
  const outcomes = Promise.allSettled(early);
  await vi.advanceTimersByTimeAsync(LIMIT_MS);
  await expect(reader.read()).rejects.toThrow('The stream did not end in time');
  expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

// An unhandled rejection fails the whole run.
test('a stream that broke leaves no timer that would end it once more', async () => {
  const { stream, control } = source();
  const reader = withinTime(stream, LIMIT_MS).getReader();
  control.error(failing);
  await expect(reader.read()).rejects.toBe(failing);
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(2 * LIMIT_MS);
});

test('a stream that nobody wants any more leaves no timer', async () => {
  const wanted = withinTime(source().stream, LIMIT_MS);
  await wanted.cancel('enough');
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream that is late, or that nobody wants any more, is told so', async () => {
  const cancelled = vi.fn<() => void>();
  const endless = (): ReadableStream<Uint8Array> => new ReadableStream({ cancel: cancelled });
  const late = withinTime(endless(), LIMIT_MS).getReader().read();
  const refused = expect(late).rejects.toThrow('did not end in time');
  await vi.advanceTimersByTimeAsync(LIMIT_MS);
  await refused;
  expect(cancelled).toHaveBeenCalledTimes(1);
  await withinTime(endless(), LIMIT_MS).cancel();
  expect(cancelled).toHaveBeenCalledTimes(2);
});
