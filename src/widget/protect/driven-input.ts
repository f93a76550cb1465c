/**
 * Traits of input that a program sends. Browsers other than Chromium are ignored: the debugging protocol does not
 * control them, and some blur times and places for privacy.
 */
import type { TelemetryTrait } from '../../contract/edge/page-report-names.ts';

/** A window without full screen has at least a tab strip or an address bar. */
const BARS_MIN_PX = 20;
/** A switch under a finger takes longer to close and open again. */
const INSTANT_MAX_MS = 8;
const INSTANT_MIN = 2;
/** Functions of drivers that call the page's own. */
const DRIVER_FRAMES = /\bUtilityScript\b|__puppeteer_evaluation_script__|\bpptr:|\bcallFunction \(eval/;

export class DrivenInput {
  readonly #isChromium = /Chrome\//.test(navigator.userAgent);
  readonly #traits = new Set<TelemetryTrait>();
  #pressedAtMs = 0;
  #presses = 0;
  #instant = 0;

  /** While the event is handled: the script that made an untrusted one is still on the stack. */
  add(event: Event): void {
    if (!event.isTrusted && DRIVER_FRAMES.test(new Error('').stack ?? '')) this.#traits.add('automation-global');
    if (event.isTrusted && this.#isChromium && 'pointerType' in event) this.#addPointer(event as PointerEvent);
  }

  #addPointer(event: PointerEvent): void {
    if (event.pointerType !== 'mouse') return;
    if (hasFalsePlace(event)) this.#traits.add('cdp-pointer');
    if (event.type === 'pointerdown') {
      this.#presses++;
      this.#pressedAtMs = event.timeStamp;
      // A mouse without a sensor counts as half pressed. The debugging protocol says nothing of it by default.
      if (event.buttons > 0 && event.pressure === 0) this.#traits.add('cdp-pointer');
    }
    if (event.type === 'pointerup' && event.timeStamp - this.#pressedAtMs < INSTANT_MAX_MS) this.#instant++;
  }

  get traits(): TelemetryTrait[] {
    if (this.#instant >= INSTANT_MIN && this.#instant * 2 > this.#presses) this.#traits.add('instant-presses');
    return [...this.#traits];
  }
}

/**
 * The debugging protocol of Chrome can give a pointer the same coordinates on the screen and in the page. A real mouse
 * cannot: the window's own bars lie above the page. A page in full screen has no bars and is ignored.
 */
function hasFalsePlace({ screenX, screenY, clientX, clientY }: PointerEvent): boolean {
  const isSamePlace = screenY > 0 && screenX === clientX && screenY === clientY;
  return isSamePlace && outerHeight - innerHeight > BARS_MIN_PX;
}
