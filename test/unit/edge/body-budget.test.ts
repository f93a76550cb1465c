/** How much of challenged submissions one isolate holds at once (design 3.3). */
import { describe, expect, test } from 'vitest';
import { BodyBudget, HELD_BODIES_MAX_BYTES } from '../../../src/edge/isolate/body-budget.ts';
import type { HeldBody } from '../../../src/edge/isolate/body-budget.ts';

const arrival = (nowMs = 0) => ({ nowMs, heldBody: null as HeldBody | null });
const budget = () => {
  const counted: string[] = [];
  return { counted, bodies: new BodyBudget((name) => counted.push(name)) };
};

describe('the room for bodies', () => {
  test('is shared by all that are held, to the byte', () => {
    const { bodies, counted } = budget();
    const first = bodies.holdFor(arrival());
    const second = bodies.holdFor(arrival());
    expect(first(HELD_BODIES_MAX_BYTES - 10)).toBe(true);
    expect(second(4)).toBe(true);
    expect(second(6)).toBe(true);
    expect(counted).toEqual([]);
    expect(second(1)).toBe(false);
    expect(counted).toEqual(['submissions_refused{reason="memory"}']);
  });

  test('a body that is refused holds nothing any more, one that is answered neither', () => {
    const { bodies } = budget();
    const answered = arrival();
    bodies.holdFor(answered)(HELD_BODIES_MAX_BYTES);
    expect(bodies.holdFor(arrival())(1)).toBe(false);
    bodies.release(answered.heldBody!);
    expect(bodies.holdFor(arrival())(HELD_BODIES_MAX_BYTES)).toBe(true);
  });

  test('what one request reads twice over, sealed and then as it was, is given back as one', () => {
    const { bodies } = budget();
    const returning = arrival();
    bodies.holdFor(returning)(HELD_BODIES_MAX_BYTES / 2);
    bodies.holdFor(returning)(HELD_BODIES_MAX_BYTES / 2);
    expect(bodies.holdFor(arrival())(1)).toBe(false);
    bodies.release(returning.heldBody!);
    expect(bodies.holdFor(arrival())(HELD_BODIES_MAX_BYTES)).toBe(true);
  });

  test('a body whose request was killed does not keep others out for ever', () => {
    const { bodies } = budget();
    bodies.holdFor(arrival(0))(HELD_BODIES_MAX_BYTES);
    expect(bodies.holdFor(arrival(170_000))(1)).toBe(false);
    expect(bodies.holdFor(arrival(181_000))(1)).toBe(true);
  });
});
