/**
 * Holds a form until it has a token, then submits it as the visitor did: same submit button, same validation, same
 * handlers of the page. Listens before all other handlers, so that a page's own `submit` handler never gets a form
 * without a token.
 */

/** When the page is still open this long after a submit, a script sent the form, or sending failed. */
const STILL_HERE_MS = 2500;

export interface HeldToken {
  hasToken(): boolean;
  obtain(): Promise<string>;
  /** The page is still open after a submit, so the token has probably been used. */
  used(): void;
}

/** Returns a function that stops holding the form. */
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
      // The widget shows the error; the form stays as it is.
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
