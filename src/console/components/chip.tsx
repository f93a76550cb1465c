/** Short marks: a decision, a state. Colour never says anything that the word does not. */
import type { ComponentChildren } from 'preact';

export type Tone = 'allow' | 'challenge' | 'block' | 'info' | 'plain' | 'warn';

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
