/** Single values: short marks, moments, and text that a visitor chose. */
import type { ComponentChildren } from 'preact';
import { briefTime, localTime, utcTime } from '../format/times.ts';
import { SHOWN_MAX_CHARS, type TextPart, visibleParts } from '../format/visitor-text.ts';

export type Tone = 'allow' | 'challenge' | 'block' | 'info' | 'plain' | 'warn';

/** A short mark: a decision, a state. Colour never says anything that the word does not. */
export function Chip({
  tone = 'plain',
  children,
  title,
}: {
  tone?: Tone;
  children: ComponentChildren;
  title?: string;
}) {
  return (
    <span class={`chip chip-${tone}`} title={title}>
      {children}
    </span>
  );
}

export function DecisionChip({ decision }: { decision: 'allow' | 'challenge' | 'block' }) {
  return <Chip tone={decision}>{decision}</Chip>;
}

/**
 * A moment in the viewer's time zone, with UTC on hover.
 * @param at epoch milliseconds, or as the API writes a time.
 * @param isBrief in a table: no more than tells it from now, the whole of it on hover.
 */
export function Time({ at, isBrief = false }: { at: number | string | null | undefined; isBrief?: boolean }) {
  if (at === null || at === undefined) return <span class="soft">–</span>;
  const ms = typeof at === 'string' ? Date.parse(at) : at;
  return (
    <time dateTime={new Date(ms).toISOString()} title={isBrief ? `${localTime(ms)}, ${utcTime(ms)}` : utcTime(ms)}>
      {isBrief ? briefTime(ms, Date.now()) : localTime(ms)}
    </time>
  );
}

export interface VisitorTextProps {
  text: string | null;
  /** Cut on the page after so many characters. */
  maxChars?: number;
}

const NARROW_CHARS = 16;
const textOf = (parts: readonly TextPart[]): string => parts.map(({ text }) => text).join('');

/** Text that a visitor chose. Hidden characters are shown by their code point; long text is cut, whole in the title. */
export function VisitorText({ text, maxChars = SHOWN_MAX_CHARS }: VisitorTextProps) {
  if (text === null || text === '') return <span class="soft">–</span>;
  const isCut = text.length > maxChars;
  // A narrow column cuts more than the limit does.
  const mayBeCut = maxChars < SHOWN_MAX_CHARS && text.length > NARROW_CHARS;
  const parts = visibleParts(isCut ? text.slice(0, maxChars) : text);
  return (
    <bdi class="visitor-text" title={mayBeCut ? textOf(isCut ? visibleParts(text) : parts) : undefined}>
      {parts.map((part, at) =>
        part.isHidden ? (
          <span key={at} class="hidden-character">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
      {isCut && '…'}
    </bdi>
  );
}
