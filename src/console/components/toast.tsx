/** Short messages about what just happened, with an undo where there is one. A screen reader hears them. */
import { signal } from '@preact/signals';
import { Button } from './button.tsx';

interface Toast {
  id: number;
  text: string;
  tone: 'done' | 'failed';
  undo: (() => void) | null;
}

/** Long enough to read it and to reach the undo with the keyboard. */
const SHOWN_MS = 10_000;
const TOASTS_MAX = 4;

const toasts = signal<readonly Toast[]>([]);
let nextId = 1;

export function toast(text: string, options: { tone?: Toast['tone']; undo?: () => void } = {}): void {
  const id = nextId++;
  toasts.value = [...toasts.value, { id, text, tone: options.tone ?? 'done', undo: options.undo ?? null }].slice(
    -TOASTS_MAX,
  );
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone, undo }) => (
        <div key={id} class={`toast toast-${tone}`}>
          <span>{text}</span>
          {undo !== null && (
            <Button
              isSmall
              onClick={() => {
                dismiss(id);
                undo();
              }}
            >
              Undo
            </Button>
          )}
          <Button isSmall kind="quiet" label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </Button>
        </div>
      ))}
    </div>
  );
}
