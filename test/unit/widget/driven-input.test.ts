/** Input that a program sends: what only the debugging protocol produces, and buttons that are released at once. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DrivenInput } from '../../../src/widget/protect/driven-input.ts';
import { CHROME, FIREFOX } from '../risk/session-facts.ts';

const place = { clientX: 300, clientY: 200, screenX: 310, screenY: 320 };
const event = (changes: Partial<PointerEvent>): PointerEvent =>
  ({
    isTrusted: true,
    type: 'pointermove',
    pointerType: 'mouse',
    buttons: 0,
    pressure: 0,
    timeStamp: 0,
    ...place,
    ...changes,
  }) as PointerEvent;

function press(input: DrivenInput, heldMs: number, changes: Partial<PointerEvent> = {}): void {
  input.add(event({ type: 'pointerdown', buttons: 1, pressure: 0.5, timeStamp: 1000, ...changes }));
  input.add(event({ type: 'pointerup', timeStamp: 1000 + heldMs, ...changes, pressure: 0 }));
}

const as = (userAgent: string): DrivenInput => {
  vi.stubGlobal('navigator', { userAgent });
  return new DrivenInput();
};

beforeEach(() => {
  vi.stubGlobal('outerHeight', 900);
  vi.stubGlobal('innerHeight', 780);
});
afterEach(() => vi.unstubAllGlobals());

describe('a person’s hand leaves no trait', () => {
  test('that moves and presses', () => {
    const input = as(CHROME);
    input.add(event({}));
    for (const heldMs of [40, 70, 110]) press(input, heldMs);
    expect(input.traits).toEqual([]);
  });

  test('that once lifts the button at once', () => {
    const input = as(CHROME);
    for (const heldMs of [3, 80]) press(input, heldMs);
    expect(input.traits).toEqual([]);
  });

  test('that taps a screen', () => {
    const input = as(CHROME);
    for (const heldMs of [1, 1, 1]) press(input, heldMs, { pointerType: 'touch', pressure: 0 });
    expect(input.traits).toEqual([]);
  });

  test('in a browser that blurs times and places', () => {
    const input = as(FIREFOX);
    for (const heldMs of [0, 0, 0]) press(input, heldMs, { screenX: 300, screenY: 200, pressure: 0 });
    expect(input.traits).toEqual([]);
  });
});

describe('a driver is seen', () => {
  test('by presses without pressure', () => {
    const input = as(CHROME);
    press(input, 90, { pressure: 0 });
    expect(input.traits).toEqual(['cdp-pointer']);
  });

  test('by the same place on the screen and in the page', () => {
    const input = as(CHROME);
    input.add(event({ screenX: 300, screenY: 200 }));
    expect(input.traits).toEqual(['cdp-pointer']);
  });

  test('by buttons that it releases at once', () => {
    const input = as(CHROME);
    for (const heldMs of [1, 2]) press(input, heldMs);
    expect(input.traits).toEqual(['instant-presses']);
  });

  test('by its functions on the stack of an event that it made', () => {
    const input = as(CHROME);
    function UtilityScript(): void {
      input.add({ isTrusted: false } as Event);
    }
    UtilityScript();
    expect(input.traits).toEqual(['automation-global']);
  });
});
