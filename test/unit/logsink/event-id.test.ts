/** Event ids: form, order, uniqueness. */
import { expect, test } from 'vitest';
import { newEventId } from '../../../src/logsink/event-id.ts';

test('an id is a UUIDv7 that carries its millisecond', () => {
  const now = Date.UTC(2026, 10, 20, 12, 34, 56, 789);
  const id = newEventId(now);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
});

test('ids of later milliseconds sort later', () => {
  const ids = [1, 2, 1_000, 1_700_000_000_000, 1_700_000_000_001].map(newEventId);
  expect(ids.toSorted()).toEqual(ids);
});

test('a hundred thousand ids of one millisecond are distinct', () => {
  expect(new Set(Array.from({ length: 100_000 }, () => newEventId(5))).size).toBe(100_000);
});
