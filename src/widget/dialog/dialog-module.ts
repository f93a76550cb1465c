/** The exports of the dialog's script, for the widget and the protect script. */
import type { LocalisedWidget } from '../loading/load-messages.ts';
import type { CaptchaError } from '../token/captcha-error.ts';

/** Where the dialog opens. */
export interface DialogPlace {
  /** The dialog is in here while it is open. */
  parent: Node;
  /** The dialog opens at this box. Without one, it opens in the middle of the window. */
  box?: HTMLElement;
  /** Colours of its own. Without a theme, it inherits the colours of its parent. */
  theme?: 'light' | 'dark' | 'auto';
}

export interface TaskDialog {
  /** The honeypot goes in here. */
  readonly element: HTMLElement;
  /** Where a task is shown. It stays there until the next one replaces it. */
  readonly panel: HTMLElement;
  readonly isOpen: boolean;
  open(): void;
  close(): void;
  show(state: 'working' | 'task'): void;
  progress(done: number): void;
  translate(language: LocalisedWidget): void;
  /**
   * Runs `attempt` until it succeeds. A failure that `isShown` accepts is shown with a button to try again. Rejects with
   * another failure, and with `cancelled` when the visitor gives up.
   */
  untilDone<Value>(attempt: () => Promise<Value>, isShown: (failure: CaptchaError) => boolean): Promise<Value>;
}

export interface DialogModule {
  /** `place` is asked each time the dialog opens. `onCancel`: the visitor closed the dialog. */
  createTaskDialog(language: LocalisedWidget, place: () => DialogPlace, onCancel: () => void): TaskDialog;
}
