/** How much of the challenged submissions one isolate holds in memory at once, and whose. */
import { describe, expect, test } from 'vitest';
import { BodyBudget, HELD_BODIES_MAX_BYTES } from '../../../src/edge/submission/body-budget.ts';

const MIB = 1024 * 1024;
/** What a body counts more than its bytes, at most. */
const ROUNDING_BYTES = 64 * 1024;
const ALL_BYTES = HELD_BODIES_MAX_BYTES - ROUNDING_BYTES;
const REFUSED = 'submissions_refused{reason="memory"}';
let requests = 0;

function budget() {
  const counted: string[] = [];
  const bodies = new BodyBudget((name) => counted.push(name));
  /** A body on its way. */
  const arriving = (ip: string | null, nowMs = 0) => {
    const requestId = `request-${++requests}`;
    const room = bodies.hold({ requestId, nowMs, signals: { ip } });
    const body = { requestId, room, forgotten: false, take: (bytes: number) => room.take(bytes) };
    room.lend(() => (body.forgotten = true));
    return body;
  };
  /** A body that arrived whole, or that had no room. */
  const whole = (ip: string | null, bytes: number, nowMs = 0) => {
    const body = arriving(ip, nowMs);
    const fits = body.take(bytes);
    body.room.keep();
    return { ...body, fits };
  };
  return { counted, bodies, arriving, whole };
}

describe('the memory for held bodies', () => {
  test('is shared by all, and what is in use is never taken away', () => {
    const { counted, whole } = budget();
    expect(whole('192.0.2.1', ALL_BYTES / 2).fits).toBe(true);
    const second = whole('198.51.100.1', ALL_BYTES / 2);
    expect(second.fits).toBe(true);
    expect(counted).toEqual([]);
    expect(whole('203.0.113.1', MIB).fits).toBe(false);
    expect(second.forgotten).toBe(false);
    expect(counted).toEqual([REFUSED]);
  });

  test('is free again after a body is refused or its request gets a response', () => {
    const { bodies, whole } = budget();
    const answered = whole('192.0.2.1', ALL_BYTES);
    expect(whole('192.0.2.1', MIB).fits).toBe(false);
    bodies.release(answered.requestId);
    expect(whole('192.0.2.1', ALL_BYTES).fits).toBe(true);
  });

  test('counts a body once when one request reads it sealed and then opened', () => {
    const { bodies, whole } = budget();
    const returning = whole('192.0.2.1', ALL_BYTES / 2);
    const opened = bodies.hold({ requestId: returning.requestId, nowMs: 0, signals: { ip: '192.0.2.1' } });
    expect(opened.take(ALL_BYTES / 2)).toBe(true);
    expect(whole('192.0.2.1', MIB).fits).toBe(false);
    bodies.release(returning.requestId);
    expect(whole('192.0.2.1', ALL_BYTES).fits).toBe(true);
  });

  test('is free again some minutes after a request was killed', () => {
    const { whole } = budget();
    whole('192.0.2.1', ALL_BYTES, 0);
    expect(whole('192.0.2.1', MIB, 170_000).fits).toBe(false);
    expect(whole('192.0.2.1', MIB, 181_000).fits).toBe(true);
  });
});

describe('a network that sends half of its bodies and waits', () => {
  test('gives back its largest to a visitor of another, and to a smaller one of its own', () => {
    const { counted, arriving, whole } = budget();
    const large = arriving('192.0.2.1');
    const small = arriving('192.0.2.2');
    expect([large.take(ALL_BYTES - 3 * MIB), small.take(3 * MIB)]).toEqual([true, true]);
    expect(whole('198.51.100.1', MIB).fits).toBe(true);
    expect([large.forgotten, small.forgotten, counted]).toEqual([true, false, [REFUSED]]);
    expect(large.take(1)).toBe(false);

    const again = arriving('192.0.2.1');
    expect(again.take(ALL_BYTES - 5 * MIB)).toBe(true);
    expect(whole('192.0.2.9', 2 * MIB).fits).toBe(true);
    expect([again.forgotten, small.forgotten]).toEqual([true, false]);
  });

  test.each([
    ['many bodies', (at: number) => `192.0.2.${at % 250}`],
    ['many networks of one provider', (at: number) => `2001:db8:0:${(at * 256).toString(16)}::1`],
  ])('stops nobody with %s', (_, addressOf) => {
    const { arriving, whole } = budget();
    const each = ALL_BYTES / 200;
    const waiting = Array.from({ length: 200 }, (_body, at) => arriving(addressOf(at)));
    for (const body of waiting) body.take(each);
    for (let visitor = 0; visitor < 4; visitor++) expect(whole(`198.51.${visitor}.1`, MIB).fits).toBe(true);
    expect(waiting.filter(({ forgotten }) => forgotten).length).toBeGreaterThan(40);
  });

  test('finds no room for more while everybody has less', () => {
    const { arriving } = budget();
    const others = ['192.0.2.1', '198.51.100.1', '203.0.113.1'].map((ip) => arriving(ip));
    for (const body of others) body.take(ALL_BYTES / 4);
    const greedy = arriving('233.252.0.1');
    expect(greedy.take(ALL_BYTES / 4)).toBe(true);
    expect(greedy.take(MIB)).toBe(false);
    expect(others.some(({ forgotten }) => forgotten)).toBe(false);
  });
});
