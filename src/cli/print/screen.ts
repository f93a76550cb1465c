/** What a terminal can show: its width and colours, how wide a text is on it, and a bar while a command works. */
import { stripVTControlCharacters, styleText } from 'node:util';
import stringWidth from 'string-width';

/** Narrower windows wrap lines. */
const COLUMNS_MIN = 40;

type Style = Parameters<typeof styleText>[0];

export interface Screen {
  /** Infinite where the output is not a terminal, so that nothing is cut there. */
  columns: number;
  isTerminal: boolean;
  /** `text` in a colour or weight, or as it is where the screen has none. */
  style(style: Style, text: string): string;
}

export interface Output {
  isTTY?: boolean;
  columns?: number;
}

/** `NO_COLOR`, `TERM=dumb` and every output that is not a terminal switch colours off. */
export function screenOf(output: Output, env: Readonly<Record<string, string | undefined>>): Screen {
  const isTerminal = output.isTTY === true;
  const hasColour = isTerminal && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return {
    columns: isTerminal ? Math.max(output.columns ?? 80, COLUMNS_MIN) : Number.POSITIVE_INFINITY,
    isTerminal,
    style: (style, text) => (hasColour ? styleText(style, text, { validateStream: false }) : text),
  };
}

export function widthOf(text: string): number {
  return stringWidth(text);
}

/** At most `width` columns; a cut text ends with `…`. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [shown, used] = ['', 0];
  for (const { segment } of new Intl.Segmenter().segment(stripVTControlCharacters(text))) {
    used += widthOf(segment);
    if (used > width - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}

const BAR_CHARS = 24;
/** Terminals over a network are slow. */
const SHOWN_EVERY_MS = 100;

export interface ProgressBar {
  /** `text`: what was done so far, in words. `total` in the same unit as `done`. */
  at(done: number, total: number | null, text: string): void;
  /** Removes the bar. */
  end(): void;
  /** The output is a terminal. Otherwise nobody needs a total that has to be asked for. */
  isShown: boolean;
}

export interface ProgressOutput {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/**
 * A bar for long work, on standard error and only where that is a terminal: `rules import  [#####     ] 52 %  5,200 of
 * 10,000 lines`. Where the total is not known, only the count is shown.
 */
export function progressOn(output: ProgressOutput, what: string, now: () => number = Date.now): ProgressBar {
  if (output.isTTY !== true) return { at: () => {}, end: () => {}, isShown: false };
  let shownAtMs = Number.NEGATIVE_INFINITY;
  return {
    at(done, total, text) {
      const isLast = total !== null && done >= total;
      if (!isLast && now() - shownAtMs < SHOWN_EVERY_MS) return;
      shownAtMs = now();
      const line = `${what}  ${total === null ? '' : `${bar(done, total)}  `}${text}`;
      // The last column would wrap the line, which then cannot be overwritten.
      output.write(`\r\u001B[K${cutToWidth(line, (output.columns ?? 80) - 1)}`);
    },
    end() {
      if (shownAtMs > Number.NEGATIVE_INFINITY) output.write('\r\u001B[K');
    },
    isShown: true,
  };
}

function bar(done: number, total: number): string {
  const share = total <= 0 ? 1 : Math.min(1, done / total);
  const full = Math.floor(share * BAR_CHARS);
  return `[${'#'.repeat(full)}${' '.repeat(BAR_CHARS - full)}] ${Math.floor(share * 100)} %`;
}
