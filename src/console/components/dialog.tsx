/** A modal dialog: the browser's own, which holds the focus, closes with Escape and gives the focus back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons, the one that acts last. */
  actions?: ComponentChildren;
  isWide?: boolean;
}

export function Dialog({ title, onClose, children, actions, isWide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // The browser says that it closed a dialog after another one may have taken its place.
  const isGone = useRef(false);
  const id = useId();
  useEffect(() => {
    const { current } = dialog;
    if (current !== null && !current.open) current.showModal();
    return () => {
      isGone.current = true;
      current?.close();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={id}
      onClose={() => isGone.current || onClose()}
    >
      <header>
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" label="Close" onClick={onClose}>
          ×
        </Button>
      </header>
      <div class="dialog-body">{children}</div>
      {actions !== undefined && <footer>{actions}</footer>}
    </dialog>
  );
}

export interface ConfirmProps {
  title: string;
  /** What will happen, with its numbers. */
  children: ComponentChildren;
  /** On the button: the verb, never "OK". */
  verb: string;
  onConfirm: () => void;
  onClose: () => void;
  isBusy?: boolean;
  isDangerous?: boolean;
  /** `false`: something must be typed first, or is still being looked up. */
  isConfirmed?: boolean;
}

export function Confirm({
  title,
  children,
  verb,
  onConfirm,
  onClose,
  isBusy = false,
  isDangerous = true,
  isConfirmed = true,
}: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={isDangerous ? 'danger' : 'primary'}
            isBusy={isBusy}
            isDisabled={!isConfirmed}
            onClick={onConfirm}
          >
            {verb}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
