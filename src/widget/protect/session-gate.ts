/**
 * `data-protect-gate` on a form, a link or an element around them: a submit or a click there waits until the session is
 * open, so that a visitor who is faster than the script is not refused. After eight seconds the request is sent anyway
 * and the edge decides.
 */

const ATTRIBUTE = 'data-protect-gate';
const WAIT_MAX_MS = 8000;

export function gateUntil(ready: Promise<unknown>): void {
  let open = false;
  const opened = (async () => {
    await Promise.race([ready, new Promise((resolve) => setTimeout(resolve, WAIT_MAX_MS))]);
    open = true;
  })();

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
      if (open || !(form instanceof HTMLFormElement) || form.closest(`[${ATTRIBUTE}]`) === null) return;
      const { submitter } = event;
      void hold(event, form, () => form.requestSubmit(submitter?.isConnected === true ? submitter : null));
    },
    true,
  );
  document.addEventListener(
    'click',
    (event) => {
      if (open || !(event.target instanceof Element)) return;
      const link = event.target.closest('a[href]');
      if (!(link instanceof HTMLAnchorElement) || link.closest(`[${ATTRIBUTE}]`) === null) return;
      if (opensHere(event, link)) void hold(event, link, () => link.click());
    },
    true,
  );
}

/** Whether this click navigates this tab within the site. */
function opensHere(event: MouseEvent, link: HTMLAnchorElement): boolean {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  if ((link.target !== '' && link.target !== '_self') || link.hasAttribute('download')) return false;
  if (link.origin !== location.origin) return false;
  return link.pathname !== location.pathname || link.search !== location.search || link.hash === '';
}
