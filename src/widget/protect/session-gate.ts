/**
 * `data-protect-gate` on a form, a link or an element around them: a submit or a click there waits until the session is
 * open, so that a visitor who is faster than the script is not refused, and while another one opens because the visitor
 * has moved to another network. After eight seconds the request is sent anyway and the edge decides.
 */

const ATTRIBUTE = 'data-protect-gate';
const WAIT_MAX_MS = 8000;

/** Returns what closes the gate until a session has opened, or could not be opened. */
export function sessionGate(): (ready: Promise<unknown>) => void {
  /** `null`: the gate is open. */
  let opened: Promise<unknown> | null = null;

  async function hold(event: Event, on: Element, then: () => void): Promise<void> {
    event.preventDefault();
    event.stopImmediatePropagation();
    if (on.getAttribute('aria-busy') === 'true') return;
    on.setAttribute('aria-busy', 'true');
    await opened;
    on.removeAttribute('aria-busy');
    then();
  }

  document.addEventListener(
    'submit',
    (event) => {
      const form = event.target;
      if (opened === null || !(form instanceof HTMLFormElement) || form.closest(`[${ATTRIBUTE}]`) === null) return;
      const { submitter } = event;
      void hold(event, form, () => form.requestSubmit(submitter?.isConnected === true ? submitter : null));
    },
    true,
  );
  document.addEventListener(
    'click',
    (event) => {
      if (opened === null || !(event.target instanceof Element)) return;
      const link = event.target.closest('a[href]');
      if (!(link instanceof HTMLAnchorElement) || link.closest(`[${ATTRIBUTE}]`) === null) return;
      if (opensHere(event, link)) void hold(event, link, () => link.click());
    },
    true,
  );
  return (ready) => {
    const closed = Promise.race([ready, new Promise((resolve) => setTimeout(resolve, WAIT_MAX_MS))]);
    opened = closed;
    void closed.finally(() => {
      if (opened === closed) opened = null;
    });
  };
}

/** Whether this click navigates this tab within the site. */
function opensHere(event: MouseEvent, link: HTMLAnchorElement): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  if ((link.target !== '' && link.target !== '_self') || link.hasAttribute('download')) return false;
  if (link.origin !== location.origin) return false;
  return link.pathname !== location.pathname || link.search !== location.search || link.hash === '';
}
