/**
 * What a hand does and a program does not. A program presses the exact centre of what it looks up, moves the pointer in a
 * straight line, and puts whole texts into fields. Only how often leaves the page, beside how often it could be judged:
 * places and texts are compared here and forgotten.
 */
import type { HandCounts } from '../../contract/edge/page-reports.ts';

const NONE: HandCounts = { presses: 0, centred: 0, strokes: 0, straight: 0, entries: 0, keyless: 0 };

/** A smaller target is hit at its centre by chance. */
const TARGET_MIN_PX = 24;
/** From a centre, or from a line: rounding. */
const EXACT_PX = 1;
/** A longer pause ends a movement. */
const PAUSE_MS = 150;
const STROKE_MIN_SIDE_PX = 30;
const STROKE_MIN_MOVES = 6;
const STROKE_MAX_MOVES = 200;
/** Text that comes longer after a key is not of that key. */
const KEY_MS = 1000;

type Point = readonly [x: number, y: number];

export class HandUse {
  #counts = { ...NONE };
  #stroke: Point[] = [];
  #movedAtMs = 0;
  #keyAtMs = -KEY_MS;
  #field: EventTarget | null = null;

  add(event: Event): void {
    const { type, timeStamp, target, isTrusted } = event;
    if (!isTrusted) return;
    const isDown = type === 'pointerdown';
    if (type === 'keydown') this.#keyAtMs = timeStamp;
    if (type === 'input') this.#enter(event as InputEvent);
    if (!(isDown || type === 'pointermove') || (event as PointerEvent).pointerType !== 'mouse') return;
    const { clientX, clientY } = event as PointerEvent;
    if (isDown || timeStamp - this.#movedAtMs > PAUSE_MS) this.#endStroke();
    if (isDown) this.#press(target as Element, clientX, clientY);
    else {
      this.#movedAtMs = timeStamp;
      if (this.#stroke.push([clientX, clientY]) === STROKE_MAX_MOVES) this.#endStroke();
    }
  }

  /** Since the last report. */
  take(): HandCounts {
    this.#endStroke();
    const counts = this.#counts;
    this.#counts = { ...NONE };
    return counts;
  }

  #press(target: Element, x: number, y: number): void {
    const element = target.closest('a,button,label,input') ?? target;
    const { x: left, y: top, width, height } = element.getBoundingClientRect();
    if (width < TARGET_MIN_PX) return;
    this.#counts.presses++;
    if (Math.hypot(left + width / 2 - x, top + height / 2 - y) <= EXACT_PX) this.#counts.centred++;
  }

  #endStroke(): void {
    const stroke = this.#stroke;
    this.#stroke = [];
    if (stroke.length < STROKE_MIN_MOVES) return;
    const [fromX, fromY] = stroke[0]!;
    const [toX, toY] = stroke.at(-1)!;
    const [dx, dy] = [toX - fromX, toY - fromY];
    // Short movements, and those along an axis, can be straight by chance.
    if (Math.min(Math.abs(dx), Math.abs(dy)) < STROKE_MIN_SIDE_PX) return;
    this.#counts.strokes++;
    const length = Math.hypot(dx, dy);
    if (stroke.every(([x, y]) => Math.abs((x - fromX) * dy - (y - fromY) * dx) <= EXACT_PX * length))
      this.#counts.straight++;
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
