/** What a terminal can show: its width and colours, and how wide a text is on it. */
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
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [shown, used] = ['', 0];
  for (const { segment } of new Intl.Segmenter().segment(stripVTControlCharacters(text))) {
    used += widthOf(segment);
    if (used > width - 1) break;
    shown += segment;
  }
  return `${shown}…`;
}
