/** Text that a visitor chose. Hidden characters are shown by their code point; long text is cut, whole in the title. */
import { SHOWN_MAX_CHARS, type TextPart, visibleParts } from '../format/visitor-text.ts';

export interface VisitorTextProps {
  text: string | null;
  /** Cut on the page after so many characters. */
  maxChars?: number;
}

const NARROW_CHARS = 16;
const textOf = (parts: readonly TextPart[]): string => parts.map(({ text }) => text).join('');

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
