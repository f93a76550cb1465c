/**
 * What a hand does and a program does not. A program presses the exact centre of what it looks up, and puts
 * whole texts into fields. Only how often leaves the page, beside how often it could be judged:
 * places and texts are compared here and forgotten.
 */
import type { HandCounts } from '../../contract/edge/page-reports.ts';

const NONE: HandCounts = { presses: 0, centred: 0, entries: 0, keyless: 0 };

/** A smaller target is hit at its centre by chance. */
const TARGET_MIN_PX = 24;
/** From a centre: rounding. */
const EXACT_PX = 1;
/** Text that comes longer after a key is not of that key. */
const KEY_MS = 1000;

export class HandUse {
  #counts = { ...NONE };
  #keyAtMs = -KEY_MS;
  #field: EventTarget | null = null;

  add(event: Event): void {
    const { type, timeStamp, isTrusted } = event;
    if (!isTrusted) return;
    if (type === 'keydown') this.#keyAtMs = timeStamp;
    if (type === 'input') this.#enter(event as InputEvent);
    if (type === 'pointerdown' && (event as PointerEvent).pointerType === 'mouse') this.#press(event as PointerEvent);
  }

  /** Since the last report. */
  take(): HandCounts {
    const counts = this.#counts;
    this.#counts = { ...NONE };
    return counts;
  }

  #press({ target, clientX: x, clientY: y }: PointerEvent): void {
    const hit = target as Element;
    const element = hit.closest('a,button,label,input') ?? hit;
    const { x: left, y: top, width, height } = element.getBoundingClientRect();
    if (width < TARGET_MIN_PX) return;
    this.#counts.presses++;
    if (Math.hypot(left + width / 2 - x, top + height / 2 - y) <= EXACT_PX) this.#counts.centred++;
  }

  /** The first text in a field. Text that a person pastes, or a browser fills in, says so. */
  #enter({ target, inputType, data, timeStamp }: InputEvent): void {
    if (inputType !== 'insertText' || target === this.#field) return;
    this.#field = target;
    this.#counts.entries++;
    if (!data?.[1] || timeStamp - this.#keyAtMs < KEY_MS) return;
    this.#counts.keyless++;
  }
}
