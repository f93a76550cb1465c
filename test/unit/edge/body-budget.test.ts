/** How much of the challenged submissions one isolate holds in memory at once. */
import { describe, expect, test } from 'vitest';
import { BodyBudget, HELD_BODIES_MAX_BYTES } from '../../../src/edge/submission/body-budget.ts';

let requests = 0;
const arrival = (nowMs = 0) => ({ requestId: `request-${++requests}`, nowMs });
const budget = () => {
  const counted: string[] = [];
  return { counted, bodies: new BodyBudget((name) => counted.push(name)) };
};

describe('the memory for held bodies', () => {
  test('is shared by all held bodies, counted in bytes', () => {
    const { bodies, counted } = budget();
    const first = bodies.hold(arrival());
    const second = bodies.hold(arrival());
    expect(first(HELD_BODIES_MAX_BYTES - 10)).toBe(true);
    expect(second(4)).toBe(true);
    expect(second(6)).toBe(true);
    expect(counted).toEqual([]);
    expect(second(1)).toBe(false);
    expect(counted).toEqual(['submissions_refused{reason="memory"}']);
  });

  test('is free again after a body is refused or its request gets a response', () => {
    const { bodies } = budget();
    const answered = arrival();
    bodies.hold(answered)(HELD_BODIES_MAX_BYTES);
    expect(bodies.hold(arrival())(1)).toBe(false);
    bodies.release(answered.requestId);
    expect(bodies.hold(arrival())(HELD_BODIES_MAX_BYTES)).toBe(true);
  });

  test('counts a body once when one request reads it sealed and then opened', () => {
    const { bodies } = budget();
    const returning = arrival();
    bodies.hold(returning)(HELD_BODIES_MAX_BYTES / 2);
    bodies.hold(returning)(HELD_BODIES_MAX_BYTES / 2);
    expect(bodies.hold(arrival())(1)).toBe(false);
    bodies.release(returning.requestId);
    expect(bodies.hold(arrival())(HELD_BODIES_MAX_BYTES)).toBe(true);
  });

  test('is free again some minutes after a request was killed', () => {
    const { bodies } = budget();
    bodies.hold(arrival(0))(HELD_BODIES_MAX_BYTES);
    expect(bodies.hold(arrival(170_000))(1)).toBe(false);
    expect(bodies.hold(arrival(181_000))(1)).toBe(true);
  });
});
