/**
 * A hand on the real pointer and keyboard of an X display, by `xdotool`: the browser gets its events from the operating
 * system and cannot tell the difference. Moves are curved, slow at both ends, and go a little past the target and back.
 * Keys are held and come at the uneven pace of typing. The page reports where its elements are.
 */
import { execFile } from 'node:child_process';
import type { Sight } from './pages.ts';

export type Look = () => Sight | null;

/** The time between two moves of the pointer, about half a frame of a screen. */
const STEP_MS = 9;
const SIGHT_WAIT_MS = 4000;

const between = (low: number, high: number): number => low + Math.random() * (high - low);
/** Around `median`, sometimes far longer, as people's pauses are. */
const uneven = (median: number, spread = 0.45): number =>
  median * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random()));
export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });

/** Runs the commands in one xdotool process, so that the times between them are exact. */
export function onScreen(commands: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile('xdotool', ['-'], (error) => (error ? reject(error) : resolve()));
    child.stdin?.end(`${commands.join('\n')}\n`);
  });
}
const rest = (milliseconds: number): string => `sleep ${(milliseconds / 1000).toFixed(3)}`;

const keyNames: Readonly<Record<string, string>> = {
  ' ': 'space',
  '@': 'at',
  '.': 'period',
  ',': 'comma',
  '-': 'minus',
};

export class Hand {
  readonly #look: Look;
  /** The pointer's place on the screen, and the place of the page's corner. */
  #at: [number, number];
  #origin: [number, number] | null = null;

  constructor(look: Look, start: [number, number]) {
    this.#look = look;
    this.#at = start;
  }

  /** Finds the page's place on the screen by comparing the pointer's place on both. */
  async findPage(): Promise<void> {
    await this.#moveTo([this.#at[0] + between(30, 60), this.#at[1] + between(20, 50)], 60);
    const seen = await this.#lookUntil(({ pointer }) => pointer !== null);
    this.#origin = [this.#at[0] - seen.pointer![0] * seen.scale, this.#at[1] - seen.pointer![1] * seen.scale];
  }

  /** Like `findPage`, for a finger, whose moves the page does not see. */
  async findPageByTap(): Promise<void> {
    await onScreen([`mousemove ${this.#at[0]} ${this.#at[1]}`, rest(200)]);
    await this.press();
    const seen = await this.#lookUntil(({ pointer }) => pointer !== null);
    this.#origin = [this.#at[0] - seen.pointer![0] * seen.scale, this.#at[1] - seen.pointer![1] * seen.scale];
  }

  async moveOnto(id: string): Promise<void> {
    const [, , width, height] = this.#boxOf(id);
    await this.#moveTo(this.#placeOf(id), Math.min(width, height));
  }

  async click(id: string): Promise<void> {
    await this.moveOnto(id);
    await pause(uneven(120));
    await this.press();
  }

  /** A finger touches without moving there first. */
  async tap(id: string): Promise<void> {
    this.#at = this.#placeOf(id);
    await onScreen([`mousemove ${this.#at[0]} ${this.#at[1]}`, rest(between(30, 90))]);
    await this.press();
  }

  async press(button = 1): Promise<void> {
    await onScreen([`mousedown ${button}`, rest(between(60, 130)), `mouseup ${button}`]);
  }

  /** Moves by this distance with the button held. */
  async drag(right: number, down: number): Promise<void> {
    await onScreen(['mousedown 1', rest(90)]);
    await this.#moveTo([this.#at[0] + right, this.#at[1] + down], 20);
    await onScreen(['mouseup 1']);
  }

  async type(text: string, medianMs = 150): Promise<void> {
    const commands = text.split('').flatMap((character) => {
      const name = keyNames[character] ?? character;
      const held = between(50, 110);
      const gap = uneven(medianMs) + (character === ' ' ? uneven(120) : 0);
      return [`keydown ${name}`, rest(held), `keyup ${name}`, rest(Math.max(gap - held, 15))];
    });
    await onScreen(commands);
  }

  /** Types at an even pace. */
  async typeAsTool(text: string, gapMs: number): Promise<void> {
    await onScreen(text.split('').flatMap((character) => [`key ${keyNames[character] ?? character}`, rest(gapMs)]));
  }

  async key(name: string, times = 1): Promise<void> {
    for (let time = 0; time < times; time++) {
      await onScreen([`key ${name}`, rest(uneven(260))]);
    }
  }

  /** Positive turns scroll down. */
  async wheel(turns: number): Promise<void> {
    const button = turns > 0 ? 5 : 4;
    for (let left = Math.abs(turns); left > 0;) {
      const now = Math.min(left, Math.ceil(between(1, 5)));
      left -= now;
      const commands = Array.from({ length: now }, () => [`click ${button}`, rest(between(25, 90))]).flat();
      await onScreen([...commands, rest(uneven(500))]);
    }
  }

  /** Moves as a simple tool does: at once, or in a straight line at one speed. */
  async moveAsTool(id: string, steps: number): Promise<void> {
    const from = this.#at;
    this.#at = this.#placeOf(id);
    const commands = Array.from({ length: steps }, (_, index) => {
      const part = (index + 1) / steps;
      const x = Math.round(from[0] + (this.#at[0] - from[0]) * part);
      const y = Math.round(from[1] + (this.#at[1] - from[1]) * part);
      return [`mousemove ${x} ${y}`, rest(STEP_MS)];
    }).flat();
    await onScreen(commands);
  }

  async #moveTo([x, y]: [number, number], width: number): Promise<void> {
    const from = this.#at;
    const [dx, dy] = [x - from[0], y - from[1]];
    const distance = Math.hypot(dx, dy);
    // Fitts's law: a farther or smaller target takes longer.
    const steps = Math.ceil(uneven(120 + 130 * Math.log2(distance / Math.max(width, 8) + 1), 0.2) / STEP_MS);
    const bend = between(-0.12, 0.12);
    const past = distance > 200 ? between(0, 0.05) : 0;
    const commands: string[] = [];
    for (let step = 1; step <= steps; step++) {
      const time = step / steps;
      const way = (10 * time ** 3 - 15 * time ** 4 + 6 * time ** 5) * (1 + past);
      const side = Math.sin(Math.PI * time) * bend;
      const shake = between(-0.8, 0.8);
      const here = [from[0] + dx * way - dy * side + shake, from[1] + dy * way + dx * side + shake];
      commands.push(`mousemove ${Math.round(here[0]!)} ${Math.round(here[1]!)}`, rest(between(6, 13)));
    }
    if (past > 0) commands.push(rest(80), `mousemove ${Math.round(x + dx * past * 0.4)} ${Math.round(y)}`, rest(40));
    this.#at = [Math.round(x), Math.round(y)];
    await onScreen([...commands, `mousemove ${this.#at[0]} ${this.#at[1]}`]);
  }

  #boxOf(id: string): readonly [number, number, number, number] {
    const box = this.#look()?.boxes[id];
    if (box === undefined) throw new Error(`The page has no ${id}`);
    return box;
  }

  #placeOf(id: string): [number, number] {
    const [x, y, width, height] = this.#boxOf(id);
    const [left, top] = this.#origin ?? [0, 0];
    const { scale } = this.#look()!;
    const at = [x + width * between(0.3, 0.7), y + height * between(0.3, 0.7)];
    return [Math.round(left + at[0]! * scale), Math.round(top + at[1]! * scale)];
  }

  async #lookUntil(sees: (seen: Sight) => boolean): Promise<Sight> {
    for (let waited = 0; waited < SIGHT_WAIT_MS; waited += 100) {
      const seen = this.#look();
      if (seen !== null && sees(seen)) return seen;
      await pause(100);
    }
    throw new Error('The page did not report where it is');
  }
}
