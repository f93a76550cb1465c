/**
 * Modal dialogs: the browser's own, which holds the focus, closes with Escape or a click outside and gives the focus back.
 * It asks first when somebody has typed into it.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button, CopyButton } from './button.tsx';
import type { Result } from '../../result.ts';
import { type Refusal, useAction } from '../api/call.ts';
import { RefusedForm } from '../settings/form.tsx';

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons, the one that acts last. */
  actions?: ComponentChildren;
  isWide?: boolean;
  /** What is lost when somebody leaves. Left out: what they have typed, if they have; `null`: nothing. */
  loss?: string | null;
}

export function Dialog({ title, onClose, children, actions, isWide = false, loss }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // The browser says that it closed a dialog after another one may have taken its place.
  const isGone = useRef(false);
  const isTyped = useRef(false);
  const [isAsking, setIsAsking] = useState(false);
  const id = useId();
  const asks = (): boolean => (loss === undefined ? isTyped.current : loss !== null);
  const leave = (): void => {
    if (asks()) return setIsAsking(true);
    // Closed by itself, the dialog gives the focus back. It says so in a later task, when the next key may have come.
    isGone.current = true;
    dialog.current?.close();
    return onClose();
  };
  // A browser may close two dialogs by one key, and does not let a page stop the second press. So the key is the page's.
  const onKey = useRef<(event: KeyboardEvent) => void>(leave);
  onKey.current = (event) => {
    const isOnTop = [...document.querySelectorAll('dialog[open]')].at(-1) === dialog.current;
    if (event.key !== 'Escape' || event.defaultPrevented || !isOnTop) return;
    event.preventDefault();
    leave();
  };
  useEffect(() => {
    const { current } = dialog;
    const listen = (event: KeyboardEvent): void => onKey.current(event);
    if (current !== null && !current.open) current.showModal();
    // A form begins at its first field. The browser alone would begin at the button that closes it.
    current?.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea):enabled')?.focus();
    document.addEventListener('keydown', listen);
    return () => {
      document.removeEventListener('keydown', listen);
      isGone.current = true;
      current?.close();
    };
  }, []);
  return (
    <>
      <dialog
        ref={dialog}
        class={isWide ? 'dialog dialog-wide' : 'dialog'}
        aria-labelledby={id}
        closedby="any"
        onInput={() => (isTyped.current = true)}
        onCancel={(event) => {
          if (event.target !== event.currentTarget || !asks()) return;
          event.preventDefault();
          setIsAsking(true);
        }}
        onClose={() => isGone.current || onClose()}
      >
        <header>
          <h2 id={id}>{title}</h2>
          <Button kind="quiet" label="Close" onClick={leave}>
            ×
          </Button>
        </header>
        <div class="dialog-body">{children}</div>
        {actions !== undefined && <footer>{actions}</footer>}
      </dialog>
      {isAsking && (
        <Dialog
          title="Close without saving?"
          loss={null}
          onClose={() => setIsAsking(false)}
          actions={
            <>
              <Button onClick={() => setIsAsking(false)}>Go back</Button>
              <Button kind="danger" onClick={onClose}>
                Close it
              </Button>
            </>
          }
        >
          <p>{loss ?? 'What you have typed is lost.'}</p>
        </Dialog>
      )}
    </>
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
      loss={null}
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
  /** A button beside the one that sends. */
  action?: ComponentChildren;
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
  action,
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
          {action}
          <Button type="submit" form={form} kind="primary" isBusy={isBusy} isDisabled={!isComplete}>
            {verb}
          </Button>
        </>
      }
    >
      <form
        id={form}
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isComplete && !isBusy) void submit();
        }}
      >
        <RefusedForm error={error}>{children}</RefusedForm>
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
    <Dialog
      title={title}
      loss="Copy the secret before you leave, if you have not yet."
      onClose={onClose}
      actions={<Button onClick={onClose}>Done</Button>}
    >
      {children}
      <code class="secret">{secret}</code>
      <div class="actions">
        <CopyButton text={secret} />
      </div>
    </Dialog>
  );
}
