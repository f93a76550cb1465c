/** Modal dialogs: the browser's own, which holds the focus, closes with Escape and gives the focus back. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button, CopyButton } from './button.tsx';
import type { Result } from '../../result.ts';
import { type Refusal, useAction } from '../api/call.ts';
import { RefusedFields } from './field.tsx';
import { RefusalNotice } from './page.tsx';

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

export interface CreateDialogProps<Made extends object | string> {
  title: string;
  /** On the button. */
  verb?: string;
  /** `false`: something is still to be filled in. */
  isComplete?: boolean;
  isWide?: boolean;
  send: () => Promise<Result<Made, Refusal>>;
  /** It was made. The dialog stays open until it is closed here. */
  onMade: (made: Made) => void;
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog that makes something: it sends once, also with Enter, and stays with the reason when it is refused. */
export function CreateDialog<Made extends object | string>({
  title,
  verb = 'Create',
  isComplete = true,
  isWide = false,
  send,
  onMade,
  onClose,
  children,
}: CreateDialogProps<Made>) {
  const { isBusy, error, run } = useAction();
  const form = useId();
  const submit = async (): Promise<void> => {
    const answer = await run(send());
    if (answer !== null) onMade(answer);
  };
  return (
    <Dialog
      title={title}
      isWide={isWide}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} kind="primary" isBusy={isBusy} isDisabled={!isComplete}>
            {verb}
          </Button>
        </>
      }
    >
      <RefusalNotice error={error} />
      <form
        id={form}
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete && !isBusy) void submit();
        }}
      >
        <RefusedFields.Provider value={error?.details ?? []}>{children}</RefusedFields.Provider>
      </form>
    </Dialog>
  );
}

/** What was made is a secret: it can be copied before the dialog is closed. */
export function SecretDialog({
  title,
  secret,
  onClose,
  children,
}: {
  title: string;
  secret: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  return (
    <Dialog title={title} onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
      {children}
      <code class="secret">{secret}</code>
      <CopyButton text={secret} />
    </Dialog>
  );
}
