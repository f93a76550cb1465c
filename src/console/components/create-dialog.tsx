/** A dialog that makes something: it sends once, also with Enter, and stays with the reason when it is refused. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Result } from '../../result.ts';
import { useAction } from '../api/call.ts';
import type { Refusal } from '../api/send.ts';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { RefusedFields } from './field.tsx';
import { RefusalNotice } from './notice.tsx';

export interface CreateDialogProps<Made extends object | string> {
  title: string;
  /** On the button. */
  verb?: string;
  /** `false`: something is still to be filled in. */
  isComplete: boolean;
  isWide?: boolean;
  send: () => Promise<Result<Made, Refusal>>;
  /** It was made. The dialog stays open until it is closed here. */
  onMade: (made: Made) => void;
  onClose: () => void;
  children: ComponentChildren;
}

export function CreateDialog<Made extends object | string>({
  title,
  verb = 'Create',
  isComplete,
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
