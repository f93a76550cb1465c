/** One step of the installation: whether the system has seen it done, and how to do it. */
import type { ComponentChildren } from 'preact';
import { Chip } from '../../components/chip.tsx';
import { CopyButton } from '../../components/copy.tsx';

export interface StepProps {
  title: string;
  isDone: boolean;
  /** What was seen, when it is done. */
  seen: ComponentChildren;
  children: ComponentChildren;
}

export function Step({ title, isDone, seen, children }: StepProps) {
  return (
    <li class="step" data-done={isDone}>
      <header>
        <h2>{title}</h2>
        <Chip tone={isDone ? 'allow' : 'plain'}>{isDone ? '✓ done' : 'waiting'}</Chip>
      </header>
      {/* The room is there before the step is done. */}
      <p class="soft">{isDone ? seen : '\u00a0'}</p>
      <div class="stack">{children}</div>
    </li>
  );
}

/** Code to paste. */
export function Code({ label, text, shown = text }: { label: string; text: string; shown?: string }) {
  return (
    <div>
      <div class="code-head">
        <span class="soft">{label}</span>
        <CopyButton text={text} />
      </div>
      <pre class="snippet" tabIndex={0} role="region" aria-label={label}>
        {shown}
      </pre>
    </div>
  );
}
