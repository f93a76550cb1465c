/**
 * Holds a form back until its token is there, then sends it as the visitor did: same submit button,
 * same validation, same handlers of the page. Listens before everybody else, so that a page's own
 * `submit` handler never sees a form without a token.
 */

/** A form that is still on screen this long after it was sent has been sent by script, or has failed. */
const STILL_HERE_MS = 2500;

export interface HeldToken {
  hasToken(): boolean;
  obtain(): Promise<string>;
  /** The token has probably been spent: the page is still there after a submit. */
  used(): void;
}

/** Answers how to let go of the form. */
export function holdForm(form: HTMLFormElement, held: HeldToken): () => void {
  const root = form.getRootNode();
  let waiting = false;
  let submitter: HTMLElement | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function onSubmit(event: Event): void {
    if (event.target !== form) return;
    if (held.hasToken()) {
      clearTimeout(timer);
      timer = setTimeout(() => held.used(), STILL_HERE_MS);
      return;
    }
    event.preventDefault();
    event.stopImmediatePropagation();
    submitter = (event as SubmitEvent).submitter;
    if (!waiting) void sendWithToken();
  }

  async function sendWithToken(): Promise<void> {
    waiting = true;
    try {
      await held.obtain();
      const button = submitter?.isConnected === true && !submitter.matches(':disabled') ? submitter : null;
      form.requestSubmit(button);
    } catch {
      // The widget shows what went wrong; the form stays as it is.
    } finally {
      waiting = false;
    }
  }

  root.addEventListener('submit', onSubmit, true);
  return () => {
    clearTimeout(timer);
    root.removeEventListener('submit', onSubmit, true);
  };
}
